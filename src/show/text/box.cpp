// A rectangle of text with an axis.
#include "show/text/box.hpp"

#include <algorithm>

#include "show/text/width.hpp"

namespace mha::show {

Box text_box(const std::string& text) {
  return {{text}, display_width(text), 0};
}

Box beside(const std::vector<Box>& boxes) {
  Box result;
  int below = 0;
  for (const Box& box : boxes) {
    result.axis = std::max(result.axis, box.axis);
    below = std::max(below, static_cast<int>(box.lines.size()) - box.axis);
    result.width += box.width;
  }
  const int height = result.axis + below;
  result.lines.resize(static_cast<std::size_t>(height));
  for (const Box& box : boxes) {
    const std::string blank = spaces(box.width);
    for (int line = 0; line < height; ++line) {
      const int own = line - result.axis + box.axis;
      const bool inside = own >= 0 && own < static_cast<int>(box.lines.size());
      result.lines[static_cast<std::size_t>(line)] += inside ? box.lines[static_cast<std::size_t>(own)] : blank;
    }
  }
  return result;
}

}  // namespace mha::show
