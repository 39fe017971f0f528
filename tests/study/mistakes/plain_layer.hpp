// One attention layer in its plainest form: every matrix of every head, taken from the problem without the plan code.
#pragma once

#include "folders.hpp"

#include <limits>
#include <optional>
#include <vector>

#include "core/problem.hpp"
#include "study/mistakes/plain_matrix.hpp"

namespace mha::test {

// W is rows×width; b is one row, or empty.
struct PlainLinear {
  PlainMatrix W, b;
};
using PlainLinears = std::vector<PlainLinear>;  // one for each head

struct PlainMask {
  Mask::Kind kind;
  Index offset;      // query i stands at key i + offset
  PlainHeads added;  // n×m for each query head
};

struct PlainRope {
  double base;
  Pairing pairing;
  Index dims;
  std::vector<Index> query_positions, key_positions;
};

struct PlainLayer {
  PlainMatrix X, X_kv;          // the same matrix in self-attention
  PlainLinears Q, K, V;         // h, g and g of them
  std::vector<Index> kv_head;   // which key/value head each query head uses
  PlainMatrix W_O, b_O;         // no W_O: the output is the concatenation
  bool packed = false;          // the problem has packed.Q, packed.K, packed.V
  std::optional<double> scale;  // nothing where the problem has no such step
  std::optional<double> cap;
  std::optional<PlainRope> rope;
  std::vector<PlainMask> masks;

  Index heads() const { return static_cast<Index>(Q.size()); }
  Index kv_heads() const { return static_cast<Index>(K.size()); }
  Index d_k() const { return Q.front().W.cols; }
  Index d_v() const { return V.front().W.cols; }
};

// A batch of one only.
PlainLayer plain_layer(const Problem& problem);

// All masks of the layer as numbers to add: n×m for each query head.
PlainHeads added_by_masks(const PlainLayer& layer);

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
inline bool is_hidden(double added) {
  return added == minus_infinity;
}

}  // namespace mha::test
