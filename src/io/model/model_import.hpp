// One attention of a model: found by its tensors, understood by its config.json, ready to be written as a problem.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "io/model/model_rules.hpp"
#include "io/model/model_tensors.hpp"

namespace mha::io {

struct ImportOptions {
  LayerChoice layer;
  HeadOptions heads;
  RuleOptions rules;
  std::optional<std::string> family;
  std::vector<std::string> ignored;  // parts to go without
  bool cross = false;                // keys and values come from an input of their own
};

struct ImportedAttention {
  const Family* family = nullptr;
  Saying family_from;
  AttentionPlace place;
  AttentionTensors tensors;
  HeadCounts heads;
  AttentionRules rules;
  std::vector<FoundPart> ignored;  // that the model has and the problem goes without
  bool cross = false;
  std::vector<std::string> files;  // all that the model consists of
};

// `path` is a .safetensors file, an index of shards or a folder. No number of any tensor is read. Throws Error.
ImportedAttention import_attention(const std::string& path, const ImportOptions& options);

// Which family, orientation, head counts, scale, mask and rope base were taken, and from what.
Saying account_of(const ImportedAttention& found);

Caption title_of(const ImportedAttention& found);

// What the layer is given and gives, and what the problem goes without.
Caption description_of(const ImportedAttention& found);

}  // namespace mha::io
