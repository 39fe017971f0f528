// Walks through UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace mha::show {

struct Character {
  char32_t code = 0;
  std::string_view bytes;
};

// Takes the first character off a text that is not empty. A byte that belongs to no character is one of its own, with
// the code of the replacement character.
Character take_character(std::string_view& text);

}  // namespace mha::show
