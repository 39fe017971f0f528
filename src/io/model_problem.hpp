// An imported attention as a problem file that points into the model's files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/model_import.hpp"
#include "io/sink.hpp"

namespace mha {

// What the person adds to the model. Paths are as the person wrote them.
struct ImportedInputs {
  std::optional<std::string> x, x_kv;
  std::vector<std::string> tokens;
};

// `problem` is the path of the file to be written; those in it are relative to its folder. Throws Error where a path or a
// name is no UTF-8, which JSON could not hold.
void write_imported(Sink& sink, const ImportedAttention& found, const ImportedInputs& inputs, const std::string& problem);

// A file as the problem names it: relative to the problem's folder, links in its name kept.
std::string relative_to_problem(const std::string& file, const std::string& problem);

// Whether that leads out of the problem's folder.
bool leads_outside(const std::string& relative);

}  // namespace mha
