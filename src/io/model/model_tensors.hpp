// The tensors of one layer: where its projections and biases lie, what they take and give, its heads, and its block.
#pragma once

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

// What stands around an attention. Of a norm, W is γ and b is β.
struct BlockTensors {
  ProjectionPlaces attention_norm, mlp_norm, first, second;
  std::optional<ProjectionPlaces> gate;
};

// BERT and GPT-2 have every bias; those of other blocks may be absent.
BlockTensors locate_block(ModelFiles& model, const std::string& prefix, const BlockNames& names,
                          const AttentionTensors& attention);

// `name` is whole but for its ending, `width` how many numbers γ has; `biased` norms have β.
ProjectionPlaces locate_norm(ModelFiles& model, const std::string& name, Index width, bool biased);

// What the person says of the heads.
struct HeadOptions {
  std::optional<Index> heads, kv_heads;
};

struct SaidCount {
  Index value = 0;
  Saying from;
};

struct HeadCounts {
  SaidCount heads, kv_heads, d_k;
};

// Error where nothing says the number of heads, where two things contradict one another, and where the shapes do not fit.
// `grouped` as TensorNames have it.
HeadCounts count_heads(const AttentionTensors& tensors, bool grouped, const ModelConfig& config,
                       const HeadOptions& options);

}  // namespace mha::io
