// One attention of a model: found by its tensors, understood by its config.json, written as a problem that points into its
// files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "io/files/sink.hpp"
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

// What the person adds to the model. Paths are as the person wrote them.
struct ImportedInputs {
  std::optional<std::string> x, x_kv;
  std::vector<std::string> tokens;
};

// `problem` is the path of the file to be written; those in it are relative to its folder. Throws Error where a path or a
// name is no UTF-8, which JSON could not hold.
void write_imported(Sink& sink, const ImportedAttention& found, const ImportedInputs& inputs, const std::string& problem);

// Error where an input is missing beside another, its width is not that of the weights, or the labels are not as many as
// its rows. Only headers are read.
void check_inputs(const ImportedAttention& found, const ImportedInputs& inputs);

// A file as the problem names it: relative to the problem's folder, links in its name kept.
std::string relative_to_problem(const std::string& file, const std::string& problem);

// The files that the problem points into, each once.
std::vector<std::string> files_pointed_to(const ImportedAttention& found, const ImportedInputs& inputs);

// Whether the file, links followed, is in no folder of the problem's.
bool is_outside(const std::string& file, const std::string& problem);

}  // namespace mha::io
