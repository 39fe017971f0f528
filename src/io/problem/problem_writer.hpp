// The parts of a problem as a problem file has them, for the trace to repeat.
#pragma once

#include "core/problem.hpp"
#include "io/json/json_writer.hpp"

namespace mha::io {

void write_caption(JsonWriter& json, const Caption& caption);
void write_labels(JsonWriter& json, const Labels& labels);
void write_rope(JsonWriter& json, const Rope& rope);

// As the person wrote them; masks that hold a matrix are told by their kind alone unless `with_matrices`.
void write_masks(JsonWriter& json, const Problem& problem, bool with_matrices);

// W_QKV and b_QKV of a fused problem.
Linear fused_weights(const Problem& problem);

// Members of the open object: X_kv and everything that is learnt, in the form in which the problem gave it.
void write_parameters(JsonWriter& json, const Problem& problem);

}  // namespace mha::io
