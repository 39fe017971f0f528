// Walks through UTF-8.
#include "show/text/utf8.hpp"

#include <utf8proc.h>

namespace mha::show {

Character take_character(std::string_view& text) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  const bool valid = length > 0;
  const Character character{valid ? static_cast<char32_t>(code) : U'\uFFFD',
                            text.substr(0, valid ? static_cast<std::size_t>(length) : 1)};
  text.remove_prefix(character.bytes.size());
  return character;
}

}  // namespace mha::show
