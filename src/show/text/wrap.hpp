// Breaks running text into lines, at spaces and between Chinese characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mha::show {

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
