// Weights of all heads side by side in one matrix, or all of them in W_QKV.
#include "io/problem/projections.hpp"

#include <fmt/format.h>

#include "io/json/json_values.hpp"
#include "io/problem/linear_reader.hpp"

namespace mha::io {
namespace {

Index read_count(const Node& node) {
  const Index count = expect_integer(node);
  if (count < 1) fail(node, fmt::format("found {}, expected a count of at least 1", count));
  return count;
}

void read_counts(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.num_heads == nullptr)
    fail(root,
         "\"num_heads\" is missing: packed weights hold all heads side by side; write how many, \"num_heads\": 1 for one");
  problem.heads = problem.kv_heads = read_count(*fields.num_heads);
  if (fields.num_kv_heads == nullptr) return;
  problem.grouped = true;
  problem.kv_heads = read_count(*fields.num_kv_heads);
  check_groups(*fields.num_kv_heads, problem);
}

// What each head gets of the columns of X·W.
Index share(const Node& node, const Linear& linear, Layout layout, Index heads, const std::string& heads_text) {
  const Index columns = width_of(linear.W.shape(), layout);
  if (columns % heads != 0)
    fail(node, fmt::format("{} do not divide into {}; each head has as many as every other",
                           counted(columns, layout == Layout::torch ? "row" : "column"), heads_text));
  return columns / heads;
}

void read_separate(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.b_QKV != nullptr) fail(*fields.b_QKV, "b_QKV goes with W_QKV; beside W_Q, W_K and W_V write b_Q, b_K and b_V");
  const std::vector<WeightsAt> whole = {{&root, fields}};
  take_projections(whole, whole, problem);
  const std::string query_heads = counted(problem.heads, "head");
  const std::string kv_heads = counted(problem.kv_heads, problem.grouped ? "key/value head" : "head");
  const Index d_k_of_queries = share(*fields.W_Q, problem.Q, problem.layout, problem.heads, query_heads);
  const Index d_k_of_keys = share(*fields.W_K, problem.K, problem.layout, problem.kv_heads, kv_heads);
  check_d_k(*fields.W_K, d_k_of_keys, d_k_of_queries);
  share(*fields.W_V, problem.V, problem.layout, problem.kv_heads, kv_heads);
}

// Columns of X·W_QKV: all query heads, all key heads, all value heads, each d_k wide.
void read_fused(const ProblemFields& fields, Problem& problem) {
  Node& node = *fields.W_QKV;
  if (problem.X_kv)
    fail(node, "W_QKV makes queries, keys and values from one X, and X_kv is given as well; write W_Q, W_K and W_V");
  refuse_weights(fields, {queries, keys, values}, "W_QKV holds W_Q, W_K and W_V already; write one of the two forms");
  const OperandShape operand{"X", problem.queries(), problem.d_model()};
  const Linear whole = take_linear({"QKV", "d_k", {&node}, {fields.b_QKV}}, operand, problem.layout);
  const Index heads_in_all = problem.heads + 2 * problem.kv_heads;
  const std::string heads_text =
      fmt::format("{0} heads of queries, {1} of keys and {1} of values", problem.heads, problem.kv_heads);
  const Index d_k = share(node, whole, problem.layout, heads_in_all, heads_text);
  const Index query_columns = problem.heads * d_k;
  const Index key_columns = problem.kv_heads * d_k;
  problem.fused = true;
  problem.Q = cut(whole, 0, query_columns, problem.layout);
  problem.K = cut(whole, query_columns, key_columns, problem.layout);
  problem.V = cut(whole, query_columns + key_columns, key_columns, problem.layout);
}

}  // namespace

void read_packed(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.kv_heads != nullptr)
    fail(*fields.kv_heads, "\"kv_heads\" goes with \"heads\"; for packed weights write the count: \"num_kv_heads\": 2");
  problem.packed = true;
  read_counts(root, fields, problem);
  if (fields.W_QKV != nullptr) {
    read_fused(fields, problem);
  } else {
    read_separate(root, fields, problem);
  }
}

}  // namespace mha::io
