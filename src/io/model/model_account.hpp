// What is said of an imported attention: in one sentence for the person, and as the title and description of the problem.
#pragma once

#include "core/problem.hpp"
#include "io/model/model_import.hpp"

namespace mha::io {

// Which family, orientation, head counts, scale, mask and rope base were taken, and from what.
Saying account_of(const ImportedAttention& found);

Caption title_of(const ImportedAttention& found);

// What the layer is given and gives, and what the problem goes without.
Caption description_of(const ImportedAttention& found);

}  // namespace mha::io
