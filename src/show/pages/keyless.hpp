// Tells of queries that may attend to no key.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// Those of one head, in one sentence; empty where there are none.
Words keyless_warning(const Scene& scene, Place place);

}  // namespace mha::show
