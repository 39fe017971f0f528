// The rotary positions of a layer, from the several places where config.json may have them.
#pragma once

#include <optional>
#include <vector>

#include "core/problem.hpp"
#include "io/model/model_config.hpp"
#include "io/model/model_layer_type.hpp"
#include "io/model/model_parts.hpp"
#include "io/model/model_saying.hpp"

namespace mha::io {

struct FoundRope {
  Rope rope;
  Saying said;
  std::vector<FoundPart> parts;  // a scaling of the positions
};

// `base` is what the person says. `type` is asked only where config.json has values for each type of layer.
FoundRope find_rope(const ModelConfig& config, std::optional<double> base, const LayerType& type, Index d_k);

// Whether find_rope will look at the type.
bool rope_depends_on_type(const ModelConfig& config);

}  // namespace mha::io
