// An array in a file as its header has it.
#include "io/arrays/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

std::size_t ArrayHeader::data_bytes() const {
  auto bytes = static_cast<std::size_t>(info_of(type).bytes);
  for (const Index axis : axes) bytes *= static_cast<std::size_t>(axis);
  return bytes;
}

void check_size(const ArrayHeader& header, std::string_view name) {
  if (std::find(header.axes.begin(), header.axes.end(), 0) != header.axes.end())
    throw Error(fmt::format("{}: the shape {} holds no numbers", name, shape_text(header.axes)));
  Index bytes = info_of(header.type).bytes;
  for (const Index axis : header.axes)
    if (axis < 0 || __builtin_mul_overflow(bytes, axis, &bytes))
      throw Error(fmt::format("{}: the shape {} is larger than any file", name, shape_text(header.axes)));
}

}  // namespace mha::io
