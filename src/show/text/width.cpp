// How many columns a text takes on a terminal.
#include "show/text/wrap.hpp"

#include <algorithm>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

// A skin tone colours the emoji before it.
bool is_skin_tone(char32_t code) {
  return code >= U'\U0001F3FB' && code <= U'\U0001F3FF';
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

}  // namespace mha::show
