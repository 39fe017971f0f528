// What stands above the first step: title, sizes, conventions.
#pragma once

#include <vector>

#include "show/scene.hpp"

namespace mha {

void add_header(const Scene& scene, std::vector<Block>& blocks);

}  // namespace mha
