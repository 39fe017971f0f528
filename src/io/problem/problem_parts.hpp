// The parts of a problem, each read and checked against those before it in this order.
#pragma once

#include "core/problem.hpp"
#include "io/problem/problem_fields.hpp"

namespace mha::io {

void read_inputs(const Node& root, const ProblemFields& fields, Problem& problem);   // X, X_kv
void read_weights(const Node& root, const ProblemFields& fields, Problem& problem);  // heads or packed, layout
void read_output_projection(const Node& root, const ProblemFields& fields, Problem& problem);
void read_labels(const ProblemFields& fields, Problem& problem);  // title, description, tokens
void read_masks(const ProblemFields& fields, Problem& problem);
void read_rules(const ProblemFields& fields, Problem& problem);  // scale, softcap, rope

}  // namespace mha::io
