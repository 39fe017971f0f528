// A sum or a list written out, or shortened where it is long.
#pragma once

#include <algorithm>
#include <string>

#include "core/tensor.hpp"

namespace mha::show {

// "a + b + c", or "a + b + c + … + z" for more than `most` terms, "a + … + z" where `most` is 2; term(i) is the text of the
// i-th.
template <typename Term>
std::string series_text(Index count, Index most, Term term, const std::string& sign = " + ") {
  const Index kept = std::min<Index>(3, most - 1);
  std::string text;
  for (Index i = 0; i < count; ++i) {
    if (i > 0) text += sign;
    if (count > most && i == kept) {
      text += "…" + sign;
      i = count - 1;
    }
    text += term(i);
  }
  return text;
}

}  // namespace mha::show
