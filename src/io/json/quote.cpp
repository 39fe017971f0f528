// Pieces of the input inside messages: what could steer a terminal or cannot be seen is written as an escape.
#include "io/json/quote.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace mha::io {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the first byte begins no character
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

// Steers the terminal, or cannot be seen at all.
bool needs_escape(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool bidirectional = code == 0x61C || (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
                             (code >= 0x2066 && code <= 0x2069);
  const bool line_or_mark = code == 0x2028 || code == 0x2029 || code == 0xFEFF;
  const bool invisible = code == 0xA0 || code == 0xAD || (code >= 0x200B && code <= 0x200D) || code == 0x2060;
  return control || bidirectional || line_or_mark || invisible;
}

}  // namespace

std::string escape(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "…";
    const Character character = first_character(text);
    if (character.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (needs_escape(character.code)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(character.code));
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
  }
  return result;
}

std::string quote(std::string_view text) {
  return '"' + escape(text) + '"';
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace mha::io
