// A page as bytes: one writer for each format, and the style of which each takes what it can have.
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

// For a terminal or a plain text file.
std::string write_text(const Document& document, const TextStyle& style);

// Markdown (CommonMark with the tables of GitHub). Matrices and spelled-out entries are formulas, or set as on a terminal,
// in blocks of code at most so wide as the style says.
std::string write_markdown(const Document& document, const TextStyle& style);

// One HTML file that needs nothing else: readable without scripts, and with them every number tells where it comes from.
// The style means nothing here.
std::string write_html(const Document& document, const TextStyle& style);

// The heads' weights as one picture (SVG 1.1): maps or lines, small multiples side by side. Throws Error where the page has
// no weights.
std::string write_svg(const Document& document, const TextStyle& style);

// A LaTeX document, or what another one takes in.
std::string write_latex(const Document& document, const TextStyle& style);

// A workbook for a spreadsheet (.xlsx): a sheet for each section. Where the document has formulas for its entries the cells
// compute them, and what is given is typed over; each matrix has a name of its own over its numbers.
std::string write_sheet(const Document& document, const TextStyle& style);

}  // namespace mha::show
