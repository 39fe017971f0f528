// Writes a page as Markdown (CommonMark with the tables of GitHub).
#pragma once

#include <string>

#include "show/document.hpp"

namespace mha::show {

// Matrices and spelled-out entries are set as on a terminal, in blocks of code at most `width` columns wide.
std::string write_markdown(const Document& document, int width);

}  // namespace mha::show
