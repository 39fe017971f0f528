// Sets equations of matrices and entries that are spelled out in lines.
#pragma once

#include "show/document.hpp"
#include "show/text/pen.hpp"

namespace mha::show {

// Lines of at most `width` columns, where a single column of a matrix is not wider alone.
std::vector<std::string> lay_out(const Equation& equation, const Pen& pen, const Document& document, int width);

std::vector<std::string> lay_out(const Work& work, const Pen& pen, int width);

}  // namespace mha::show
