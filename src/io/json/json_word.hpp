// The words of JSON that stand without quotes: numbers, true, false, null, and what people write in their stead.
#pragma once

#include <string>
#include <string_view>

namespace mha::io {

struct Word {
  enum class Kind {
    number,      // `value` is the nearest double
    too_large,   // a number beyond the range of doubles
    not_finite,  // NaN, Infinity, -Infinity, as Python's json writes them: no JSON, but the reader decides
    boolean,     // `value` is 0 or 1
    null,
    wrong,
  };
  Kind kind = Kind::wrong;
  double value = 0;
  std::string_view written;
};

Word classify(std::string_view written);

// What should stand in place of a wrong word.
std::string mend(std::string_view word);

}  // namespace mha::io
