// Writes explanations as JSON.
#pragma once

#include "io/sink.hpp"
#include "study/explain.hpp"

namespace mha {

// {"format": "mha-explanation", …, "entries": [{"entry", "step", "head", "row", "column", "value", "formula", "work",
// "terms", "maximum", "head_shares", "operands"}]}; what an entry does not have is left out.
void write_explanations(Sink& sink, const Scene& scene, const std::vector<Explanation>& entries);

}  // namespace mha
