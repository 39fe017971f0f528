// What masks do, in words: why an entry of the masked scores is what it is, and which queries may attend to no key.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// Every mask that hides or changes this entry, in words; empty where none does.
Words mask_reason(const Scene& scene, const Step& step, Place place, Index query, Index key);

// The queries of one head that may attend to no key, in one sentence; empty where there are none.
Words keyless_warning(const Scene& scene, Place place);

}  // namespace mha::show
