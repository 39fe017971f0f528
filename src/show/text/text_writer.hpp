// Writes a page for a terminal or a plain text file, or as Markdown (CommonMark with the tables of GitHub).
#pragma once

#include "show/document.hpp"

namespace mha::show {

struct TextStyle {
  int width = 80;         // columns; only a word or a matrix column that is wider alone exceeds it
  bool color = false;     // ANSI colours
  bool ascii = false;     // what the program draws itself is ASCII; the person's labels stay
  bool lines = false;     // pictures: lines from queries to keys instead of maps
  bool fragment = false;  // LaTeX: what \\input takes in
  bool math = false;      // Markdown: formulas and matrices as $$ … $$ instead of boxes of text
  int columns = 0;        // pictures in a row; 0: as many as look well
};

std::string write_text(const Document& document, const TextStyle& style);

// Matrices and spelled-out entries are formulas, or set as on a terminal, in blocks of code at most so wide as the style
// says.
std::string write_markdown(const Document& document, const TextStyle& style);

}  // namespace mha::show
