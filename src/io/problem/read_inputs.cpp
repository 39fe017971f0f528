// X and X_kv, with or without a batch.
#include "io/problem/problem_parts.hpp"

#include <fmt/format.h>

#include "io/json/json_values.hpp"

namespace mha::io {
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

// The weights that multiply X: all of them, or those of the first head. Null where there are none.
const Node* weights_of_queries(const ProblemFields& fields) {
  if (fields.W_QKV != nullptr) return fields.W_QKV;
  const List* const heads = fields.heads == nullptr ? nullptr : fields.heads->as<List>();
  if (heads == nullptr || heads->empty() || heads->front().as<Object>() == nullptr) return fields.W_Q;
  for (const Member& member : *heads->front().as<Object>())
    if (member.key == "W_Q") return &member.node;
  return nullptr;
}

// X has as many columns as the weights take, where they say it.
[[noreturn]] void refuse_missing_X(const Node& root, const ProblemFields& fields) {
  const Node* const weights = weights_of_queries(fields);
  const Grid* const grid = weights == nullptr ? nullptr : weights->as<Grid>();
  if (grid == nullptr || grid->axes.size() != 2)
    fail(root, "\"X\" is missing; write the tokens, one row each: \"X\": [[1, 0], [0, 1]]");
  const std::string* const layout = fields.layout == nullptr ? nullptr : fields.layout->as<std::string>();
  const Index width = layout != nullptr && *layout == "torch" ? grid->axes[1] : grid->axes[0];
  fail(root, fmt::format("\"X\" is missing; it is n×{}: write the n tokens, one row of {} each, \"X\": [[…], …], or name a "
                         "file, \"X\": {{\"file\": \"X.npy\"}}",
                         width, counted(width, "number")));
}

}  // namespace

void read_inputs(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.X == nullptr) refuse_missing_X(root, fields);
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

}  // namespace mha::io
