// Respells the signs that the program writes.
#include "show/text/ascii.hpp"

#include <algorithm>
#include <array>

#include "core/utf8.hpp"


namespace mha::show {
namespace {

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};

constexpr std::array spellings = {
    Spelling{U'·', "*"},      Spelling{U'×', "x"},   Spelling{U'→', "->"},     Spelling{U'−', "-"},
    Spelling{U'–', "-"},      Spelling{U'∞', "inf"}, Spelling{U'Σ', "sum"},    Spelling{U'…', "..."},
    Spelling{U'⋮', ":"},      Spelling{U'⋱', "..."}, Spelling{U'─', "-"},      Spelling{U'═', "="},
    Spelling{U'│', "|"},      Spelling{U'⎡', "["},   Spelling{U'⎢', "|"},      Spelling{U'⎣', "["},
    Spelling{U'⎤', "]"},      Spelling{U'⎥', "|"},   Spelling{U'⎦', "]"},      Spelling{U'⁽', "("},
    Spelling{U'⁾', ")"},      Spelling{U'⁰', "0"},   Spelling{U'¹', "1"},      Spelling{U'²', "2"},
    Spelling{U'³', "3"},      Spelling{U'⁴', "4"},   Spelling{U'⁵', "5"},      Spelling{U'⁶', "6"},
    Spelling{U'⁷', "7"},      Spelling{U'⁸', "8"},   Spelling{U'⁹', "9"},      Spelling{U'ᵏ', "k"},
    Spelling{U'ᵛ', "v"},      Spelling{U'ᵀ', "^T"},  Spelling{U'\u0303', "~"}, Spelling{U'∘', "o"},
    Spelling{U'θ', "theta"},  Spelling{U'′', "'"},   Spelling{U'├', "|"},      Spelling{U'└', "`"},
    Spelling{U'≠', "!="},     Spelling{U'←', "<-"},  Spelling{U'⌊', "floor("}, Spelling{U'⌋', ")"},
    Spelling{U'∜', "root4 "},
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
        std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& row) { return row.sign == character.code; });
    result += spelling == spellings.end() ? character.bytes : spelling->ascii;
  }
  return result;
}

}  // namespace mha::show
