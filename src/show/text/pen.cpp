// What a terminal can show.
#include "show/text/pen.hpp"

#include "core/utf8.hpp"

namespace mha::show {
namespace {

struct Shade {
  float from;  // the least weight that has it
  std::string_view codes;
};
// Luminances from 0.12 to 0.16, under white.
constexpr std::array shades = {Shade{0.85f, "7"}, Shade{0.65f, "48;5;27;38;5;231"}, Shade{0.45f, "48;5;62;38;5;231"},
                               Shade{0.2f, "48;5;60;38;5;231"}};

struct Respelling {
  char32_t sign;
  std::string_view ascii;
};

constexpr std::array spellings = {
    Respelling{U'·', "*"},      Respelling{U'×', "x"},     Respelling{U'→', "->"},     Respelling{U'−', "-"},
    Respelling{U'–', "-"},      Respelling{U'∞', "inf"},   Respelling{U'Σ', "sum"},    Respelling{U'…', "..."},
    Respelling{U'⋮', ":"},      Respelling{U'⋱', "..."},   Respelling{U'─', "-"},      Respelling{U'═', "="},
    Respelling{U'│', "|"},      Respelling{U'⎡', "["},     Respelling{U'⎢', "|"},      Respelling{U'⎣', "["},
    Respelling{U'⎤', "]"},      Respelling{U'⎥', "|"},     Respelling{U'⎦', "]"},      Respelling{U'⁽', "("},
    Respelling{U'⁾', ")"},      Respelling{U'⁰', "0"},     Respelling{U'¹', "1"},      Respelling{U'²', "2"},
    Respelling{U'³', "3"},      Respelling{U'⁴', "4"},     Respelling{U'⁵', "5"},      Respelling{U'⁶', "6"},
    Respelling{U'⁷', "7"},      Respelling{U'⁸', "8"},     Respelling{U'⁹', "9"},      Respelling{U'ᵏ', "k"},
    Respelling{U'ᵛ', "v"},      Respelling{U'ᵀ', "^T"},    Respelling{U'\u0303', "~"}, Respelling{U'∘', "o"},
    Respelling{U'θ', "theta"},  Respelling{U'′', "'"},     Respelling{U'├', "|"},      Respelling{U'└', "`"},
    Respelling{U'≠', "!="},     Respelling{U'←', "<-"},    Respelling{U'⌊', "floor("}, Respelling{U'⌋', ")"},
    Respelling{U'∜', "root4 "}, Respelling{U'γ', "gamma"}, Respelling{U'β', "beta"},   Respelling{U'μ', "mean"},
    Respelling{U'σ', "s"},      Respelling{U'Φ', "Phi"},   Respelling{U'½', "1/2"},    Respelling{U'π', "pi"},
    Respelling{U'₀', "0"},      Respelling{U'₁', "1"},     Respelling{U'₂', "2"},      Respelling{U'₃', "3"},
    Respelling{U'₄', "4"},      Respelling{U'₅', "5"},     Respelling{U'₆', "6"},      Respelling{U'₇', "7"},
    Respelling{U'₈', "8"},      Respelling{U'₉', "9"},     Respelling{U'—', "-"},      Respelling{U'±', "+-"},
    Respelling{U'÷', "/"},      Respelling{U'‖', "||"},    Respelling{U'⁻', "^-"},     Respelling{U'\u0302', "^"},
};

constexpr bool is_under_root(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "√d_k" is "sqrt(d_k)": what stands under the root is the word that follows, or what is in parentheses.
std::string root_of_word(std::string_view& text) {
  if (text.starts_with('(')) return "sqrt";
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

std::string_view shade_of(float weight) {
  const auto* shade = std::find_if(shades.begin(), shades.end(), [&](const Shade& row) { return weight >= row.from; });
  return shade == shades.end() ? "" : shade->codes;
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
  std::string codes(shade_of(cell.shade));
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
