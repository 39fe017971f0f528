// By which rules a model's layer attends: mask and window, scale, softcap, rotary positions, and what says so.
#pragma once

#include "core/problem.hpp"
#include "io/model/model_family.hpp"
#include "io/model/model_files.hpp"
#include "io/model/model_layers.hpp"

namespace mha::io {

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
