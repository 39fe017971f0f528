// Which attentions a model's tensors hold, the one that is meant, and the parts of its layer that mha does not compute.
#pragma once

#include "io/model/model_family.hpp"
#include "io/model/model_files.hpp"

namespace mha::io {

struct AttentionPlace {
  Names names;
  std::string prefix;                // "model.layers.3.self_attn.": stands before the key names; may be empty
  std::optional<Index> layer;        // the last number in the prefix
  std::vector<std::string> missing;  // of the weights, where the attention is not whole

  std::string layer_prefix() const;  // "model.layers.3.": before the names of a block
};

// "model.layers.3." → "model.layers."
std::string without_last(const std::string& prefix);

// "model.layers.N.self_attn." for every layer.
std::string pattern_of(std::string_view prefix);

// In the order of layers. Attentions of which a tensor is missing are none.
std::vector<AttentionPlace> find_attentions(const ModelFiles& model);

struct LayerChoice {
  std::optional<Index> layer;
  std::optional<std::string> prefix;  // the attention's prefix begins so
};

// The one that is meant. Where there is none, or more than one, an Error lists what is there.
AttentionPlace choose_attention(ModelFiles& model, const LayerChoice& choice);

struct FoundPart {
  std::string name;  // as --ignore has it
  Saying what;       // "the norms of queries and keys"
  Saying seen_as;    // the tensor, or the key and value of config.json
};

// By the tensors that stand among those of the attention; with a block, among those of the layer.
std::vector<FoundPart> find_parts(const ModelFiles& model, const AttentionPlace& place, const BlockNames* block = nullptr);

// One of each name.
void add_part(std::vector<FoundPart>& parts, FoundPart part);

// A row of the table as found; the name must be one.
FoundPart part_called(std::string_view name, Saying seen_as);
FoundPart part_in_config(std::string_view name, const Node& node);  // seen as this value

// Error that lists the parts which `ignored` does not name. A name of the tensor or key serves as well: q_norm for qk_norm.
void refuse_parts(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored);

// Error for a name that is neither in the table nor among the parts.
void refuse_unknown_names(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored);

}  // namespace mha::io
