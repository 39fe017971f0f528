// How many columns a text takes on a terminal, and where it is broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// A piece that is broken only where it is wider than a line, and what joins it to the piece before unless a line ends
// there.
struct Piece {
  std::string glue;
  std::string text;
};

// Lines of at most `width` columns; never none.
std::vector<std::string> fill(const std::vector<Piece>& pieces, int width);

// The pieces of a sentence: its words; in Chinese its characters, with the punctuation that must not start or end a line.
std::vector<Piece> pieces_of(std::string_view sentence);

// The pieces of a formula: an operator stays with what follows it.
std::vector<Piece> terms_of(std::string_view formula);

}  // namespace mha::show
