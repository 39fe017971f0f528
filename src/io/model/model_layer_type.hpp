// Whether a layer attends in a sliding window: by config.json's list of layer types, or by the rule of the family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/model/model_config.hpp"
#include "io/model/model_family.hpp"
#include "io/model/model_parts.hpp"
#include "io/model/model_saying.hpp"

namespace mha::io {

struct LayerType {
  bool sliding = false;
  Saying from;                     // what says so
  std::optional<FoundPart> other;  // a type that is neither full nor sliding; taken as full
};

// `layer` counts from 0; an Error asks for it where the type depends on it and it is not known.
LayerType find_layer_type(const Family& family, const ModelConfig& config, std::optional<Index> layer);

}  // namespace mha::io
