// One attention of a model: found by its tensors, understood by its config.json, ready to be written as a problem.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/model/model_heads.hpp"
#include "io/model/model_layers.hpp"
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

}  // namespace mha::io
