// The parts of a model's attention that mha does not compute, and leave to go without them.
#pragma once

#include <string>
#include <vector>

#include "io/model/model_files.hpp"
#include "io/model/model_layers.hpp"
#include "io/model/model_saying.hpp"

namespace mha::io {

struct FoundPart {
  std::string name;     // as --ignore has it
  Saying what;          // "the norms of queries and keys"
  std::string seen_as;  // the tensor, or the key and value of config.json
};

// By the tensors that stand among those of the attention.
std::vector<FoundPart> find_parts(const ModelFiles& model, const AttentionPlace& place);

// A row of the table as found; the name must be one.
FoundPart part_called(std::string_view name, std::string seen_as);

// Error that lists the parts which `ignored` does not name. A name of the tensor or key serves as well: q_norm for qk_norm.
void refuse_parts(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored);

// Error for a name that is neither in the table nor among the parts.
void refuse_unknown_names(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored);

}  // namespace mha::io
