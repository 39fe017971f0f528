// How many columns a text takes on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mha::show {

// Chinese and most emoji take two columns, combining marks none. The text is UTF-8.
int display_width(std::string_view text);

// At most `width` columns; what is cut off is replaced by `ellipsis`.
std::string shortened(std::string_view text, int width, std::string_view ellipsis);

// None for a negative count.
std::string spaces(int count);
std::string pad_left(std::string_view text, int width);
std::string pad_right(std::string_view text, int width);
std::string centred(std::string_view text, int width);

}  // namespace mha::show
