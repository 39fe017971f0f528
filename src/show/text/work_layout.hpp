// Sets an entry that is spelled out: on one line, or with its relations below one another.
#pragma once

#include <string>
#include <vector>

#include "show/document.hpp"
#include "show/text/pen.hpp"

namespace mha::show {

std::vector<std::string> lay_out(const Work& work, const Pen& pen, int width);

}  // namespace mha::show
