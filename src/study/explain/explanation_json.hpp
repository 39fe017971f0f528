// Writes explanations as JSON.
#pragma once

#include "io/files/sink.hpp"
#include "study/explain/explain.hpp"

namespace mha::study {

// {"format": "mha-explanation", …, "entries": [{"entry", "step", "head", "row", "column", "value", "formula", "work",
// "terms", "maximum", "head_shares", "operands"}]}; what an entry does not have is left out.
void write_explanations(io::Sink& sink, const show::Scenes& layers, const std::vector<Explanation>& entries);

}  // namespace mha::study
