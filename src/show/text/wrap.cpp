// How many columns a text takes on a terminal, and how running text is broken into lines.
#include "show/text/wrap.hpp"

#include <algorithm>
#include <array>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

// A skin tone colours the emoji before it.
bool is_skin_tone(char32_t code) {
  return code >= U'\U0001F3FB' && code <= U'\U0001F3FF';
}

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

int display_width(std::string_view text) {
  int width = 0, last = 0;
  while (!text.empty()) {
    if (text.front() >= ' ' && text.front() <= '~') {  // most of a page; the library takes its time over each character
      last = 1;
      width += 1;
      text.remove_prefix(1);
      continue;
    }
    const char32_t code = take_character(text).code;
    const bool joins = last == 2 && is_skin_tone(code);
    last = columns_of(code);
    if (!joins) width += last;
  }
  return width;
}

std::string shortened(std::string_view text, int width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const int room = width - display_width(ellipsis);
  std::string result;
  int used = 0;
  while (!text.empty()) {
    const Character character = take_character(text);
    used += columns_of(character.code);
    if (used > room) break;
    result += character.bytes;
  }
  return result.append(ellipsis);
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

std::string pad_left(std::string_view text, int width) {
  return spaces(width - display_width(text)).append(text);
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + spaces(width - display_width(text));
}

std::string centred(std::string_view text, int width) {
  const int room = std::max(width - display_width(text), 0);
  return spaces(room / 2) + std::string(text) + spaces(room - room / 2);
}

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
