// Writes a page as a notebook for Jupyter.
#pragma once

#include <string>

#include "show/document.hpp"
#include "show/writers.hpp"

namespace mha::show {

// Pieces of the page as Markdown, below each the code that computes its matrix, or for a blank one a line to fill in; at
// the end of such a page the answer is written and checked.
std::string write_notebook(const Document& document, const TextStyle& style);

}  // namespace mha::show
