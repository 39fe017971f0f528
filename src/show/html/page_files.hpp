// The style and the script of a page, embedded into the binary, with their hashes in hexadecimal digits.
#pragma once

#include <string_view>

namespace mha::show {

std::string_view page_css();
std::string_view page_css_sha256();
std::string_view page_js();
std::string_view page_js_sha256();

}  // namespace mha::show
