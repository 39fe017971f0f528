// Writes a page as Markdown (CommonMark with the tables of GitHub).
#pragma once

#include <string>

#include "show/text/text_writer.hpp"

namespace mha::show {

// Matrices and spelled-out entries are set as on a terminal, in blocks of code at most so wide as the style says.
std::string write_markdown(const Document& document, const TextStyle& style);

}  // namespace mha::show
