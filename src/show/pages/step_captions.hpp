// The small print of a step: its meaning, and what its formula alone does not say.
#pragma once

#include <vector>

#include "show/pages/scene.hpp"

namespace mha::show {

std::vector<Words> captions_of(const Scene& scene, const Step& step, Place place);

// "left out, unless --full: rows 4–997 of X"; empty where every matrix is shown whole.
Words left_out_caption(const Scene& scene, const Equation& equation);

}  // namespace mha::show
