// By which rules a model's layer attends: mask and window, scale, softcap, rotary positions, and what says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "io/model/model_config.hpp"
#include "io/model/model_family.hpp"
#include "io/model/model_parts.hpp"
#include "io/model/model_saying.hpp"

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

}  // namespace mha::io
