// What a terminal can show.
#include "show/text/pen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

constexpr int black = 16, white = 231;
constexpr std::array shades = {Shade{195, black}, Shade{153, black}, Shade{117, black}, Shade{75, black},
                               Shade{33, black},  Shade{26, white},  Shade{20, white},  Shade{18, white}};
constexpr float nothing_to_see = 0.01f;

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

const Shade* shade_of(float weight) {
  if (!(weight >= nothing_to_see)) return nullptr;
  const auto level = static_cast<std::size_t>(weight * static_cast<float>(shades.size()));
  return &shades[std::min(level, shades.size() - 1)];
}

std::string Pen::own(std::string_view text) const {
  return style_.ascii ? to_ascii(text) : std::string(text);
}

std::string Pen::quoted(std::string_view text) const {
  return visible(text);
}

std::string Pen::words(const Words& words) const {
  std::string result;
  for (const Span& span : words.spans()) result += span.quoted ? quoted(span.text) : own(span.text);
  return result;
}

std::string Pen::cell(std::string text, const Cell& cell) const {
  std::string codes;
  if (const Shade* shade = shade_of(cell.shade))
    codes = fmt::format("48;5;{};38;5;{}", shade->background, shade->foreground);
  switch (cell.mark) {
    case Cell::Mark::none: break;
    case Cell::Mark::hidden: codes += codes.empty() ? "2" : ";2"; break;
    case Cell::Mark::worked: codes += codes.empty() ? "1" : ";1"; break;
    case Cell::Mark::wrong: codes += codes.empty() ? "1;31" : ";1;31"; break;
  }
  return codes.empty() ? text : painted(codes, std::move(text));
}

std::string Pen::painted(std::string_view codes, std::string text) const {
  if (!style_.color || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", codes, text);
}

}  // namespace mha::show
