// Writes a page as one HTML file that needs nothing else: readable without scripts, and with them every number tells where
// it comes from.
#pragma once

#include <string>

#include "show/document.hpp"
#include "show/text/text_writer.hpp"

namespace mha::show {

// The style's colour and width mean nothing here.
std::string write_html(const Document& document, const TextStyle& style);

}  // namespace mha::show
