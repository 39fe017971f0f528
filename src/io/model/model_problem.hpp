// An imported attention as a problem file that points into the model's files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/files/sink.hpp"
#include "io/model/model_import.hpp"

namespace mha::io {

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
