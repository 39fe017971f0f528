// Respells the signs that the program writes.
#include "show/text/ascii.hpp"

#include <algorithm>
#include <array>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

struct Sign {
  char32_t sign;
  std::string_view ascii;
};

constexpr std::array spellings = {
    Sign{U'·', "*"},   Sign{U'×', "x"},     Sign{U'→', "->"},     Sign{U'−', "-"},  Sign{U'–', "-"},
    Sign{U'∞', "inf"}, Sign{U'Σ', "sum"},   Sign{U'…', "..."},    Sign{U'⋮', ":"},  Sign{U'⋱', "..."},
    Sign{U'─', "-"},   Sign{U'═', "="},     Sign{U'│', "|"},      Sign{U'⎡', "["},  Sign{U'⎢', "|"},
    Sign{U'⎣', "["},   Sign{U'⎤', "]"},     Sign{U'⎥', "|"},      Sign{U'⎦', "]"},  Sign{U'⁽', "("},
    Sign{U'⁾', ")"},   Sign{U'⁰', "0"},     Sign{U'¹', "1"},      Sign{U'²', "2"},  Sign{U'³', "3"},
    Sign{U'⁴', "4"},   Sign{U'⁵', "5"},     Sign{U'⁶', "6"},      Sign{U'⁷', "7"},  Sign{U'⁸', "8"},
    Sign{U'⁹', "9"},   Sign{U'ᵏ', "k"},     Sign{U'ᵛ', "v"},      Sign{U'ᵀ', "^T"}, Sign{U'\u0303', "~"},
    Sign{U'∘', "o"},   Sign{U'θ', "theta"}, Sign{U'′', "'"},      Sign{U'├', "|"},  Sign{U'└', "`"},
    Sign{U'≠', "!="},  Sign{U'←', "<-"},    Sign{U'⌊', "floor("}, Sign{U'⌋', ")"},  Sign{U'∜', "root4 "},
};

constexpr bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "√d_k" is "sqrt(d_k)": what stands under the root is the word that follows.
std::string root_of_word(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_of_word(text[length])) ++length;
  std::string result = "sqrt(" + std::string(text.substr(0, length)) + ")";
  text.remove_prefix(length);
  return result;
}

}  // namespace

std::string to_ascii(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = take_character(text);
    if (character.code == U'√') {
      result += root_of_word(text);
      continue;
    }
    const auto* spelling =
        std::find_if(spellings.begin(), spellings.end(), [&](const Sign& row) { return row.sign == character.code; });
    result += spelling == spellings.end() ? character.bytes : spelling->ascii;
  }
  return result;
}

}  // namespace mha::show
