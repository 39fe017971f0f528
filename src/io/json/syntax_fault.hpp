// What to say when the input is no JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json/source.hpp"

namespace mha::io {

struct Opening {
  char bracket;  // '[' or '{'
  Position position;
};

// The parser stopped at the source's current token, inside these lists and objects; `after_key`: a key came before it.
// `reason` is the parser's own account, which alone knows what is wrong inside a text.
InputFault syntax_fault(Source& source, const std::vector<Opening>& open, bool after_key, std::string_view reason);

// A token without quotes that is neither a number nor a literal.
InputFault wrong_word(Position position, std::string_view word);

}  // namespace mha::io
