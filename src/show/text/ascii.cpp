// Respells the signs that the program writes.
#include "show/text/ascii.hpp"

#include <algorithm>
#include <array>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

struct Respelling {
  char32_t sign;
  std::string_view ascii;
};

constexpr std::array spellings = {
    Respelling{U'·', "*"},      Respelling{U'×', "x"},   Respelling{U'→', "->"},     Respelling{U'−', "-"},
    Respelling{U'–', "-"},      Respelling{U'∞', "inf"}, Respelling{U'Σ', "sum"},    Respelling{U'…', "..."},
    Respelling{U'⋮', ":"},      Respelling{U'⋱', "..."}, Respelling{U'─', "-"},      Respelling{U'═', "="},
    Respelling{U'│', "|"},      Respelling{U'⎡', "["},   Respelling{U'⎢', "|"},      Respelling{U'⎣', "["},
    Respelling{U'⎤', "]"},      Respelling{U'⎥', "|"},   Respelling{U'⎦', "]"},      Respelling{U'⁽', "("},
    Respelling{U'⁾', ")"},      Respelling{U'⁰', "0"},   Respelling{U'¹', "1"},      Respelling{U'²', "2"},
    Respelling{U'³', "3"},      Respelling{U'⁴', "4"},   Respelling{U'⁵', "5"},      Respelling{U'⁶', "6"},
    Respelling{U'⁷', "7"},      Respelling{U'⁸', "8"},   Respelling{U'⁹', "9"},      Respelling{U'ᵏ', "k"},
    Respelling{U'ᵛ', "v"},      Respelling{U'ᵀ', "^T"},  Respelling{U'\u0303', "~"}, Respelling{U'∘', "o"},
    Respelling{U'θ', "theta"},  Respelling{U'′', "'"},   Respelling{U'├', "|"},      Respelling{U'└', "`"},
    Respelling{U'≠', "!="},     Respelling{U'←', "<-"},  Respelling{U'⌊', "floor("}, Respelling{U'⌋', ")"},
    Respelling{U'∜', "root4 "},
};

constexpr bool is_under_root(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "√d_k" is "sqrt(d_k)": what stands under the root is the word that follows.
std::string root_of_word(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_under_root(text[length])) ++length;
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
        std::find_if(spellings.begin(), spellings.end(), [&](const Respelling& row) { return row.sign == character.code; });
    result += spelling == spellings.end() ? character.bytes : spelling->ascii;
  }
  return result;
}

}  // namespace mha::show
