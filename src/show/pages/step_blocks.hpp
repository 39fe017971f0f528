// One step of the page: its heading, captions, matrices and spelled-out entries.
#pragma once

#include <vector>

#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"

namespace mha::show {

// X, and X_kv in cross-attention.
void add_inputs(const Scene& scene, Place place, PageBuilder& page);

// `number` is the step's place in the plan, from 1.
void add_step(const Scene& scene, const Step& step, int number, Place place, PageBuilder& page);

// The small print of a step: its meaning, and what its formula alone does not say.
std::vector<Words> captions_of(const Scene& scene, const Step& step, Place place);

}  // namespace mha::show
