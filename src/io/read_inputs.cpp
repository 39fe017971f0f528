// X and X_kv, with or without a batch.
#include "io/problem_parts.hpp"

#include <fmt/format.h>

#include "io/json_values.hpp"

namespace mha {
namespace {

bool is_batch(Node& node) {
  const Node* const self = &node;
  return self->as<Grid>() != nullptr && self->as<Grid>()->axes.size() == 3;
}

// n×d, or batch×n×d.
Tensor read_input(Node& node) {
  if (!is_batch(node)) return take_tensor(node, expect_matrix(node));
  const std::vector<Index> axes = expect_grid(node, Entries::numbers).axes;
  return take_tensor(node, {axes[0], 1, axes[1], axes[2]});
}

}  // namespace

void read_inputs(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.X == nullptr) fail(root, "\"X\" is missing; write the tokens, one row each: \"X\": [[1, 0], [0, 1]]");
  problem.batched = is_batch(*fields.X);
  problem.X = read_input(*fields.X);
  if (fields.X_kv == nullptr) return;
  const bool batched = is_batch(*fields.X_kv);
  problem.X_kv = read_input(*fields.X_kv);
  if (batched != problem.batched)
    fail(*fields.X_kv, fmt::format("X_kv has {} and X has {}; give both a batch or neither",
                                   batched ? "a batch" : "no batch", problem.batched ? "one" : "none"));
  const Index items = problem.X_kv->shape().batch;
  if (items != problem.batch())
    fail(*fields.X_kv, fmt::format("X_kv has {} and X has {}; each item of X reads its own item of X_kv",
                                   counted(items, "item"), counted(problem.batch(), "item")));
}

}  // namespace mha
