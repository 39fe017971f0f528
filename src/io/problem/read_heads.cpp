// Weights of each head: the lists `heads` and `kv_heads`.
#include "io/problem/projections.hpp"

#include <fmt/format.h>

#include "io/json/json_values.hpp"
#include "io/problem/linear_reader.hpp"

namespace mha::io {
namespace {

// Lists of nothing, or of what stands for numbers, are read as lists of numbers.
List& expect_heads(Node& node) {
  if (const Grid* grid = node.as<Grid>(); grid != nullptr && grid->axes.front() == 0)
    fail(node, "the list is empty; attention needs at least one head");
  if (const Grid* grid = node.as<Grid>(); grid != nullptr && !grid->odd.empty())
    throw InputFault(
        grid->odd.front().position, grid->odd.front().path,
        fmt::format("found {}, expected a head: {{\"W_Q\": …, \"W_K\": …, \"W_V\": …}}", grid->odd.front().found));
  List* list = node.as<List>();
  if (list == nullptr) fail(node, fmt::format("found {}, expected a list of heads: [{{\"W_Q\": …}}]", describe(node)));
  return *list;
}

void refuse_packed_weights(const ProblemFields& fields) {
  for (const Node* node : {fields.num_heads, fields.num_kv_heads, fields.W_QKV, fields.b_QKV})
    if (node != nullptr)
      fail(*node, "this goes with packed weights, and \"heads\" is given as well; write one of the two forms");
  refuse_weights(fields, {queries, keys, values},
                 "weights of all heads packed, and \"heads\" is given as well; write one of the two forms");
}

std::vector<WeightsAt> read_query_heads(Node& node, Problem& problem) {
  std::vector<WeightsAt> places;
  std::vector<std::string> names;
  bool any_name = false;
  for (Node& head : expect_heads(node)) {
    const auto fields = read_fields(head, head_fields, "a head: {\"W_Q\": …, \"W_K\": …, \"W_V\": …}");
    names.push_back(fields.name == nullptr ? "" : expect_text(*fields.name));
    any_name = any_name || fields.name != nullptr;
    places.push_back({&head, fields});
  }
  if (any_name) problem.head_names = std::move(names);
  problem.heads = problem.kv_heads = static_cast<Index>(places.size());
  return places;
}

std::vector<WeightsAt> read_kv_heads(Node& node, const std::vector<WeightsAt>& heads, Problem& problem) {
  for (const WeightsAt& head : heads)
    refuse_weights(head.fields, {keys, values},
                   "\"kv_heads\" hold the key and value weights, so heads hold W_Q, b_Q and name alone");
  std::vector<WeightsAt> places;
  for (Node& head : expect_heads(node))
    places.push_back({&head, read_fields(head, kv_head_fields, "a key/value head: {\"W_K\": …, \"W_V\": …}")});
  problem.kv_heads = static_cast<Index>(places.size());
  problem.grouped = true;
  check_groups(node, problem);
  return places;
}

}  // namespace

void read_per_head(const ProblemFields& fields, Problem& problem) {
  refuse_packed_weights(fields);
  const std::vector<WeightsAt> heads = read_query_heads(*fields.heads, problem);
  const std::vector<WeightsAt> kv_heads =
      fields.kv_heads == nullptr ? heads : read_kv_heads(*fields.kv_heads, heads, problem);
  take_projections(heads, kv_heads, problem);
  check_d_k(*kv_heads.front().fields.W_K, width_of(problem.K.W.shape(), problem.layout), problem.d_k());
}

}  // namespace mha::io
