// Writes the heads' weights as one picture (SVG 1.1): maps or lines, small multiples side by side.
#pragma once

#include "show/document.hpp"
#include "show/text/text_writer.hpp"

namespace mha::show {

// Of the style it takes what is drawn, and how many pictures stand in a row. Throws Error where the page has no weights.
std::string write_svg(const Document& document, const TextStyle& style);

}  // namespace mha::show
