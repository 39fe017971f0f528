// The tensors of one attention: where its projections and biases lie, what they take and give, and its heads.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "io/model/model_files.hpp"
#include "io/model/model_layers.hpp"

namespace mha::io {

// A tensor, or the part of it that gives the columns cut[0] … cut[1] − 1 of the product.
struct TensorPlace {
  std::string file, tensor;
  Index in = 0, out = 0;  // of X·W; a bias has `in` 1
  std::optional<std::array<Index, 2>> cut;
};

struct ProjectionPlaces {
  TensorPlace W;
  std::optional<TensorPlace> b;
};

struct AttentionTensors {
  bool out_by_in = true;                // how every W is stored
  std::optional<ProjectionPlaces> qkv;  // where one tensor holds all three, of which q, k and v are then parts
  ProjectionPlaces q, k, v, o;
};

// Reads the shapes; a tensor with another number of axes, a bias of another length or numbers that mha does not read are an
// Error that names the tensor.
AttentionTensors locate_tensors(ModelFiles& model, const AttentionPlace& place);

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
