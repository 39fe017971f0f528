// Writes a page as a LaTeX document, or as what another one takes in.
#pragma once

#include "show/document.hpp"
#include "show/text/text_writer.hpp"

namespace mha::show {

// Of the style it takes whether it is a fragment.
std::string write_latex(const Document& document, const TextStyle& style);

}  // namespace mha::show
