// What per-head and packed weights have in common: three projections, of queries, keys and values.
#include "io/problem/projections.hpp"

#include <fmt/format.h>

#include "io/json/json_values.hpp"
#include "io/problem/linear_reader.hpp"

namespace mha::io {
namespace {

Linear take_projection(const ProjectionFields& projection, const std::vector<WeightsAt>& places,
                       const OperandShape& operand, Layout layout) {
  LinearNodes nodes{projection.name, projection.width, {}, {}};
  for (const WeightsAt& place : places) {
    Node* const W = place.fields.*projection.W;
    if (W == nullptr)
      fail(*place.node, fmt::format("\"W_{}\" is missing here; attention needs W_Q, W_K and W_V, for each head or packed",
                                    projection.name));
    nodes.W.push_back(W);
    nodes.b.push_back(place.fields.*projection.b);
  }
  return take_linear(nodes, operand, layout);
}

}  // namespace

void refuse_weights(const WeightFields& fields, std::initializer_list<ProjectionFields> projections,
                    const std::string& sentence) {
  for (const ProjectionFields& projection : projections)
    for (const Node* node : {fields.*projection.W, fields.*projection.b})
      if (node != nullptr) fail(*node, sentence);
}

void take_projections(const std::vector<WeightsAt>& query_places, const std::vector<WeightsAt>& key_places,
                      Problem& problem) {
  const OperandShape query_operand{"X", problem.queries(), problem.d_model()};
  const OperandShape key_operand{problem.X_kv ? "X_kv" : "X", problem.keys(), problem.d_kv()};
  problem.Q = take_projection(queries, query_places, query_operand, problem.layout);
  problem.K = take_projection(keys, key_places, key_operand, problem.layout);
  problem.V = take_projection(values, key_places, key_operand, problem.layout);
}

void check_groups(const Node& node, const Problem& problem) {
  if (problem.heads % problem.kv_heads != 0)
    fail(node, fmt::format("{} cannot share {}; the number of query heads is a multiple of that of key/value heads",
                           counted(problem.heads, "query head"), counted(problem.kv_heads, "key/value head")));
}

void check_d_k(const Node& node, Index d_k_of_keys, Index d_k_of_queries) {
  if (d_k_of_keys != d_k_of_queries)
    fail(node, fmt::format("W_K gives d_k = {} and W_Q gives d_k = {}; scores multiply queries with keys, so both are of "
                           "one length",
                           d_k_of_keys, d_k_of_queries));
}

}  // namespace mha::io
