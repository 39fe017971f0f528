// The tensors of one attention: where its projections and biases lie, and what they take and give.
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

}  // namespace mha::io
