// A rectangle of text with an axis, as typesetters have it: formulas are built by setting boxes side by side.
#pragma once

#include <string>
#include <vector>

namespace mha::show {

struct Box {
  std::vector<std::string> lines;  // each `width` columns wide
  int width = 0;
  int axis = 0;  // the line that meets the axes of the neighbours
};

// Operators and the like; already as the terminal shall show it.
Box text_box(const std::string& text);

Box beside(const std::vector<Box>& boxes);

}  // namespace mha::show
