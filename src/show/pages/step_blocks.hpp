// One step of the page: its heading, captions, matrices and spelled-out entries.
#pragma once

#include <vector>

#include "show/pages/scene.hpp"

namespace mha::show {

// X, and X_kv in cross-attention.
void add_inputs(const Scene& scene, Place place, std::vector<Block>& blocks);

// `number` is the step's place in the plan, from 1.
void add_step(const Scene& scene, const Step& step, int number, Place place, std::vector<Block>& blocks);

}  // namespace mha::show
