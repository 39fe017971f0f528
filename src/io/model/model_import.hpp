// An attention of a model, a whole layer or several: found by their tensors, understood by config.json, written as a
// problem that points into the model's files.
#pragma once

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "io/model/model_layers.hpp"

namespace mha::io {

struct ImportOptions {
  LayerChoice layer;
  std::vector<Index> layers;  // a stack of these
  bool block = false;         // what stands around the attention, too; a stack has blocks
  HeadOptions heads;
  RuleOptions rules;
  std::optional<std::string> family;
  std::vector<std::string> ignored;  // parts to go without
  bool cross = false;                // keys and values come from an input of their own
};

struct ImportedLayer {
  const Family* family = nullptr;
  Saying family_from;
  AttentionPlace place;
  const BlockNames* block = nullptr;  // none: the attention alone
  AttentionTensors tensors;
  BlockTensors around;
  HeadCounts heads;
  AttentionRules rules;
  BlockRules block_rules;

  std::string prefix() const { return block != nullptr ? place.layer_prefix() : place.prefix; }
};

struct Imported {
  std::vector<ImportedLayer> layers;  // one, or those of a stack
  bool stack = false;
  std::optional<ProjectionPlaces> final_norm;  // behind the model's last layer
  std::string missing_norm;                    // its tensor, where it is not there
  std::vector<FoundPart> ignored;              // that the model has and the problem goes without
  bool cross = false;
  std::vector<std::string> files;  // all that the model consists of

  const ImportedLayer& first() const { return layers.front(); }
};

// `path` is a .safetensors file, an index of shards or a folder. No number of any tensor is read. Throws Error.
Imported import_layers(const std::string& path, const ImportOptions& options);

// Which family, orientation, head counts, scale, mask and rope base were taken, and from what: one sentence for the layers
// that are alike.
std::vector<Saying> account_of(const Imported& found);

Caption title_of(const Imported& found);

// What the layer is given and gives, and what the problem goes without.
Caption description_of(const Imported& found);

// What the person adds to the model. Paths are as the person wrote them.
struct ImportedInputs {
  std::optional<std::string> x, x_kv;
  std::vector<std::string> tokens;
};

// `problem` is the path of the file to be written; those in it are relative to its folder. Gives the files that the problem
// points into, each once. Throws Error where a path or a name is no UTF-8, which JSON could not hold.
std::vector<std::string> write_imported(Sink& sink, const Imported& found, const ImportedInputs& inputs,
                                        const std::string& problem);

// Error where an input is missing beside another, its width is not that of the weights, or the labels are not as many as
// its rows. Only headers are read.
void check_inputs(const Imported& found, const ImportedInputs& inputs);

// Whether the file, links followed, is in no folder of the problem's.
bool is_outside(const std::string& file, const std::string& problem);

}  // namespace mha::io
