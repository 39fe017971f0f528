// What per-head and packed weights have in common: three projections, of queries, keys and values.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "io/problem/problem_fields.hpp"

namespace mha::io {

struct ProjectionFields {
  std::string_view name;   // "Q" of W_Q and b_Q
  std::string_view width;  // what the columns of X·W are called
  Node* WeightFields::*W;
  Node* WeightFields::*b;
};
inline constexpr ProjectionFields queries{"Q", "d_k", &WeightFields::W_Q, &WeightFields::b_Q};
inline constexpr ProjectionFields keys{"K", "d_k", &WeightFields::W_K, &WeightFields::b_K};
inline constexpr ProjectionFields values{"V", "d_v", &WeightFields::W_V, &WeightFields::b_V};

// An object of the file that holds weights: a head, a key/value head, or the problem itself.
struct WeightsAt {
  const Node* node;
  WeightFields fields;
};

// Fails with the sentence at the first of these weights and biases that is given.
void refuse_weights(const WeightFields& fields, std::initializer_list<ProjectionFields> projections,
                    const std::string& sentence);

// Fills Q, K and V of the problem, whose X, X_kv and layout are known.
void take_projections(const std::vector<WeightsAt>& query_places, const std::vector<WeightsAt>& key_places,
                      Problem& problem);

// `node` is what the message points at.
void check_groups(const Node& node, const Problem& problem);
void check_d_k(const Node& node, Index d_k_of_keys, Index d_k_of_queries);

// Per head: `heads`, and `kv_heads` where there are any.
void read_per_head(const ProblemFields& fields, Problem& problem);
// Packed: `num_heads` and one matrix for all heads, or W_QKV.
void read_packed(const Node& root, const ProblemFields& fields, Problem& problem);

}  // namespace mha::io
