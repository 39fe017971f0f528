// UTF-8, one character at a time, and what of it may be shown on a terminal.
#include "core/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <charconv>
#include <cstdlib>
#include <memory>

namespace mha {
namespace {

constexpr char32_t no_break_space = 0xA0;

std::string numbered(char32_t code) {
  const auto number = static_cast<unsigned>(code);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

std::string spelled_in_page(char32_t code) {
  switch (code) {
    case U'\n': return "\\n";
    case U'\r': return "\\r";
    case U'\t': return "\\t";
  }
  return code < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code)) : numbered(code);
}

}  // namespace

Character take_character(std::string_view& text) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  const bool valid = length > 0;
  const Character character{valid ? static_cast<char32_t>(code) : U'\uFFFD',
                            text.substr(0, valid ? static_cast<std::size_t>(length) : 1), valid};
  text.remove_prefix(character.bytes.size());
  return character;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string plain(std::string_view text) {
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> holder(made, &std::free);
  return length < 0 ? std::string(text)
                    : std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(length));
}

std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  const bool whole = error == std::errc() && stop == end && digits.front() != '-';
  return whole ? std::optional(number) : std::nullopt;
}

bool is_utf8(std::string_view text) {
  while (!text.empty())
    if (!take_character(text).valid) return false;
  return true;
}

int columns_of(char32_t code) {
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code));
}

bool may_be_shown(char32_t code) {
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  const bool selects_variant = code >= 0xFE00 && code <= 0xFE0F;  // of the emoji before it
  return property->category != UTF8PROC_CATEGORY_CC && property->category != UTF8PROC_CATEGORY_CF &&
         property->category != UTF8PROC_CATEGORY_ZL && property->category != UTF8PROC_CATEGORY_ZP &&
         (!property->ignorable || selects_variant);
}

std::string visible(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = take_character(text);
    if (!may_be_shown(character.code))
      result += spelled_in_page(character.code);
    else
      result += character.valid ? character.bytes : "\uFFFD";
  }
  return result;
}

std::string escape(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "…";
    const Character character = take_character(text);
    if (!character.valid)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(character.bytes.front()));
    else if (!may_be_shown(character.code) || character.code == no_break_space)  // which looks like a blank in a key
      result += numbered(character.code);
    else
      result += character.bytes;
  }
  return result;
}

std::string quote(std::string_view text) {
  return '"' + escape(text) + '"';
}

std::string shell_word(std::string_view text) {
  std::string file = (text.size() > 1 && text.starts_with('-') ? "./" : "") + std::string(text);
  if (file.find_first_of(" !\"#$&'()*;<=>?[\\]^`{|}~") == std::string::npos) return file;
  std::string word = "'";
  for (const char c : file) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace mha
