// Writes a page as a workbook for a spreadsheet (.xlsx).
#pragma once

#include <string>

#include "show/document.hpp"
#include "show/text/text_writer.hpp"

namespace mha::show {

// A sheet for each section. Where the document has formulas for its entries the cells compute them, and what is given is
// typed over; each matrix has a name of its own over its numbers.
std::string write_sheet(const Document& document, const TextStyle& style);

}  // namespace mha::show
