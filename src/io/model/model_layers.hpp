// Which attentions a model's tensors hold, and the one that is meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/model/model_family.hpp"
#include "io/model/model_files.hpp"

namespace mha::io {

struct AttentionPlace {
  Names names;
  std::string prefix;          // "model.layers.3.self_attn.": stands before the key names; may be empty
  std::optional<Index> layer;  // the last number in the prefix
};

// In the order of layers. Attentions of which a tensor is missing are none.
std::vector<AttentionPlace> find_attentions(const ModelFiles& model);

struct LayerChoice {
  std::optional<Index> layer;
  std::optional<std::string> prefix;  // the attention's prefix begins so
};

// The one that is meant. Where there is none, or more than one, an Error lists what is there.
AttentionPlace choose_attention(ModelFiles& model, const LayerChoice& choice);

}  // namespace mha::io
