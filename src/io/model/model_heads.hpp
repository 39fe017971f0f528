// How many heads, and how wide: what config.json and the options say, checked against the shapes of the tensors.
#pragma once

#include <optional>

#include "io/model/model_config.hpp"
#include "io/model/model_saying.hpp"
#include "io/model/model_tensors.hpp"

namespace mha::io {

// What the person says of the heads.
struct HeadOptions {
  std::optional<Index> heads, kv_heads;
};

struct HeadCounts {
  Index heads = 0, kv_heads = 0, d_k = 0;
  Saying heads_from, kv_heads_from, d_k_from;
};

// Error where nothing says the number of heads, where two things contradict one another, and where the shapes do not fit.
HeadCounts count_heads(const AttentionTensors& tensors, const ModelConfig& config, const HeadOptions& options);

}  // namespace mha::io
