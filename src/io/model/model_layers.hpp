// A layer of a model: which attentions its tensors hold, the one that is meant, and the parts that mha does not compute;
// where its projections lie, what they take and give, and its block; by which rules it attends, and what says so.
#pragma once

#include "core/problem.hpp"
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

// What the person says; an inner nothing is "none". It comes before what config.json says.
struct RuleOptions {
  std::optional<double> rope_base;
  std::optional<std::optional<double>> scale, softcap;
  std::optional<std::optional<Index>> window;
};

struct AttentionRules {
  bool causal = false;
  std::optional<Index> window;  // keys that a query sees, itself among them
  Scale scale;
  std::optional<double> softcap;
  std::optional<Rope> rope;
  Saying mask_said, scale_said, softcap_said, rope_said;  // softcap_said is empty where the family has none
  std::vector<FoundPart> parts;                           // that config.json asks for and mha does not compute
};

// `layer` counts from 0; an Error asks for it where a rule depends on it and it is not known. InputFault for values of
// config.json that are of the wrong type.
AttentionRules find_rules(const Family& family, const ModelConfig& config, const RuleOptions& options,
                          std::optional<Index> layer, Index d_k);

// Which it is, counted from 0; where that is not known an Error says that this rule depends on it.
Index expect_layer(std::optional<Index> layer, const Saying& rule);

struct BlockRules {
  Norm norm;
  Activation activation = Activation::none;
  Saying said;
};

// Norms and activation of a block. InputFault for values of config.json that are of the wrong type or not known.
BlockRules find_block_rules(const BlockNames& block, const ModelConfig& config);

struct LayerType {
  bool sliding = false;
  Saying from;                     // what says so
  std::optional<FoundPart> other;  // a type that is neither full nor sliding; taken as full
};

// `layer` counts from 0; an Error asks for it where the type depends on it and it is not known.
LayerType find_layer_type(const Family& family, const ModelConfig& config, std::optional<Index> layer);

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
