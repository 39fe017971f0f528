// Reads a problem into plain matrices: weights of each head, rotary positions, and masks from their definitions.
#include "study/mistakes/plain_layer.hpp"

#include <cassert>
#include <cmath>
#include <cstdlib>

namespace mha::test {
namespace {

PlainMatrix matrix_of(const Tensor& tensor, Index head) {
  return build(tensor.shape().rows, tensor.shape().cols, [&](Index i, Index j) { return tensor.at(0, head, i, j); });
}

// As it multiplies from the right, whatever the layout of the file.
PlainMatrix weight_of(const Problem& problem, const Tensor& W, Index head) {
  return problem.layout == Layout::torch ? transposed(matrix_of(W, head)) : matrix_of(W, head);
}

PlainLinears linears_of(const Problem& problem, const Linear& linear, Index heads) {
  PlainLinears result(static_cast<std::size_t>(heads));
  const PlainHeads W = problem.packed ? cut(weight_of(problem, linear.W, 0), heads) : PlainHeads{};
  const PlainHeads b = problem.packed && linear.b ? cut(matrix_of(*linear.b, 0), heads) : PlainHeads{};
  for (Index head = 0; head < heads; ++head) {
    const auto k = static_cast<std::size_t>(head);
    result[k].W = problem.packed ? W[k] : weight_of(problem, linear.W, head);
    if (linear.b) result[k].b = problem.packed ? b[k] : matrix_of(*linear.b, head);
  }
  return result;
}

Index offset_of(const Mask& mask, const Problem& problem) {
  if (!mask.align || mask.align->kind == Align::Kind::top_left) return 0;
  if (mask.align->kind == Align::Kind::bottom_right) return problem.keys() - problem.queries();
  return mask.align->offsets.front();
}

// Press et al. 2021: from 2^(−8/p) on for a power of two p; heads beyond the largest p ≤ h get 2^(−4·1/p), 2^(−4·3/p), …
double slope_of(const Mask& mask, Index head, Index heads) {
  if (mask.slopes) return (*mask.slopes)[static_cast<std::size_t>(head)];
  Index p = 1;
  while (p * 2 <= heads) p *= 2;
  const auto exponent = static_cast<double>(head < p ? 8 * (head + 1) : 4 * (2 * (head - p) + 1));
  return std::pow(2.0, -exponent / static_cast<double>(p));
}

double entry_of(const Mask& mask, Index head, Index i, Index j) {
  const Shape& shape = mask.matrix.shape();
  return mask.matrix.at(0, shape.heads == 1 ? 0 : head, shape.rows == 1 ? 0 : i, j);
}

double added_by(const Mask& mask, const Problem& problem, Index head, Index i, Index j) {
  const Index ahead = j - (i + offset_of(mask, problem));  // how far the key stands to the right of the query
  const auto hidden_if = [](bool hidden) { return hidden ? minus_infinity : 0.0; };
  switch (mask.kind) {
    case Mask::Kind::none: return 0;
    case Mask::Kind::causal: return hidden_if(ahead > 0);
    case Mask::Kind::window: return hidden_if((mask.left && -ahead > *mask.left) || (mask.right && ahead > *mask.right));
    case Mask::Kind::padding: return hidden_if(entry_of(mask, head, i, j) == 0);
    case Mask::Kind::allow: return hidden_if(entry_of(mask, head, i, j) == 0);
    case Mask::Kind::block: return hidden_if(entry_of(mask, head, i, j) == 1);
    case Mask::Kind::add: return entry_of(mask, head, i, j);
    case Mask::Kind::alibi: return -slope_of(mask, head, problem.heads) * static_cast<double>(std::abs(ahead));
  }
  return 0;
}

std::vector<PlainMask> masks_of(const Problem& problem) {
  std::vector<PlainMask> result;
  for (const Mask& mask : problem.masks) {
    if (mask.kind == Mask::Kind::none) continue;
    PlainMask plain{mask.kind, offset_of(mask, problem), {}};
    for (Index head = 0; head < problem.heads; ++head)
      plain.added.push_back(
          build(problem.queries(), problem.keys(), [&](Index i, Index j) { return added_by(mask, problem, head, i, j); }));
    result.push_back(std::move(plain));
  }
  return result;
}

PlainRope rope_of(const Problem& problem) {
  const Rope& rope = *problem.rope;
  PlainRope result{rope.base, rope.pairing, rope.dims, {}, {}};
  for (Index i = 0; i < problem.queries(); ++i) result.query_positions.push_back(rope.start + i);
  if (rope.positions) result.query_positions = *rope.positions;
  for (Index j = 0; j < problem.keys(); ++j) result.key_positions.push_back(rope.start + j);
  if (!problem.X_kv) result.key_positions = result.query_positions;
  if (rope.positions_kv) result.key_positions = *rope.positions_kv;
  return result;
}

std::optional<double> scale_of(const Problem& problem) {
  if (problem.scale.kind == Scale::Kind::none) return {};
  if (problem.scale.kind == Scale::Kind::number) return problem.scale.number;
  return 1 / std::sqrt(static_cast<double>(problem.d_k()));
}

}  // namespace

PlainLayer plain_layer(const Problem& problem) {
  assert(problem.batch() == 1);
  PlainLayer layer;
  layer.X = matrix_of(problem.X, 0);
  layer.X_kv = matrix_of(problem.keys_from(), 0);
  layer.Q = linears_of(problem, problem.Q, problem.heads);
  layer.K = linears_of(problem, problem.K, problem.kv_heads);
  layer.V = linears_of(problem, problem.V, problem.kv_heads);
  for (Index i = 0; i < problem.heads; ++i) layer.kv_head.push_back(i / (problem.heads / problem.kv_heads));
  if (!problem.output_is_concat) {
    layer.W_O = weight_of(problem, problem.O.W, 0);
    if (problem.O.b) layer.b_O = matrix_of(*problem.O.b, 0);
  }
  layer.packed = problem.packed;
  layer.scale = scale_of(problem);
  layer.cap = problem.softcap;
  if (problem.rope) layer.rope = rope_of(problem);
  layer.masks = masks_of(problem);
  return layer;
}

PlainHeads added_by_masks(const PlainLayer& layer) {
  PlainHeads sum(layer.Q.size(), build(layer.X.rows, layer.X_kv.rows, [](Index, Index) { return 0.0; }));
  for (const PlainMask& mask : layer.masks)
    for (std::size_t head = 0; head < sum.size(); ++head) sum[head] = plus(sum[head], mask.added[head]);
  return sum;
}

}  // namespace mha::test
