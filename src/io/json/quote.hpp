// Pieces of the input inside messages: harmless on a terminal, and short.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mha::io {

// In double quotes; control and bidirectional characters and invalid UTF-8 as escapes, cut where it gets long.
std::string quote(std::string_view text);

// The same without the quotes, cut after `most` characters.
std::string escape(std::string_view text, std::size_t most = 40);

bool is_utf8(std::string_view text);

}  // namespace mha::io
