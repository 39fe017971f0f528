// Why an entry of the masked scores is what it is.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// Every mask that hides or changes this entry, in words; empty where none does.
Words mask_reason(const Scene& scene, const Step& step, Place place, Index query, Index key);

}  // namespace mha::show
