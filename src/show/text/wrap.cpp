// Breaks running text into lines.
#include "show/text/wrap.hpp"

#include <algorithm>
#include <array>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

constexpr std::u32string_view not_at_line_start = U"，。：；、！？）》」”’%…";
constexpr std::u32string_view not_at_line_end = U"（《「“‘";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_operator(std::string_view word) {
  constexpr std::array<std::string_view, 10> operators = {"+", "-", "−", "/", "·", "×", "→", "*", "x", "->"};
  return std::find(operators.begin(), operators.end(), word) != operators.end();
}

// A word may be broken before and after each wide character.
void add_word(std::string_view word, std::vector<Piece>& pieces) {
  std::string glue = pieces.empty() ? "" : " ";
  bool may_break = true;
  char32_t last = 0;
  while (!word.empty()) {
    const Character character = take_character(word);
    const bool wide = display_width(character.bytes) == 2;
    const bool tied = not_at_line_start.find(character.code) != std::u32string_view::npos ||
                      not_at_line_end.find(last) != std::u32string_view::npos;
    if (last == 0 || ((may_break || wide) && !tied)) {
      pieces.push_back({glue, ""});
      glue.clear();
    }
    pieces.back().text += character.bytes;
    may_break = wide;
    last = character.code;
  }
}

// The same pieces, those that are wider than a line cut into lines.
std::vector<Piece> cut_to_width(const std::vector<Piece>& pieces, int width) {
  std::vector<Piece> result;
  for (const Piece& piece : pieces) {
    result.push_back({piece.glue, ""});
    std::string_view rest = piece.text;
    for (int used = 0; !rest.empty();) {
      const Character character = take_character(rest);
      const int columns = display_width(character.bytes);
      if (used > 0 && used + columns > width) {
        result.push_back({});
        used = 0;
      }
      result.back().text += character.bytes;
      used += columns;
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> fill(const std::vector<Piece>& pieces, int width) {
  std::vector<std::string> lines(1);
  int used = 0;
  for (const Piece& piece : cut_to_width(pieces, width)) {
    const int glue = display_width(piece.glue), text = display_width(piece.text);
    if (used > 0 && used + glue + text > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += piece.glue;
      used += glue;
    }
    lines.back() += piece.text;
    used += text;
  }
  return lines;
}

std::vector<Piece> pieces_of(std::string_view sentence) {
  std::vector<Piece> pieces;
  for (const std::string_view word : words_of(sentence)) add_word(word, pieces);
  return pieces;
}

std::vector<Piece> terms_of(std::string_view formula) {
  std::vector<Piece> pieces;
  bool tied = false;
  for (const std::string_view word : words_of(formula)) {
    if (tied)
      pieces.back().text.append(" ").append(word);
    else
      pieces.push_back({pieces.empty() ? "" : " ", std::string(word)});
    tied = is_operator(word);
  }
  return pieces;
}

}  // namespace mha::show
