// Problems drawn at random, the same on every platform.
#pragma once

#include "folders.hpp"

#include <random>

#include "core/problem.hpp"

namespace mha::test {

// Draws by hand from the raw 32 bits, since the distributions of <random> differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  Index whole(Index least, Index most) { return least + static_cast<Index>(engine_()) % (most - least + 1); }
  double number() { return static_cast<double>(engine_()) / 4294967296.0 * 2 - 1; }  // in [−1, 1)
  Tensor tensor(Shape shape) {
    Tensor result(shape);
    for (Index i = 0; i < result.size(); ++i) result.data()[i] = number();
    return result;
  }

 private:
  std::mt19937 engine_;
};

struct Sizes {
  Index batch = 1, tokens = 5, keys = 5, d_model = 6, d_kv = 6, heads = 3, kv_heads = 3, d_k = 2, d_v = 4, d_out = 5;
  bool cross = false;
};

// Per-head weights with biases, no mask.
inline Problem random_problem(Dice& dice, const Sizes& s) {
  Problem p;
  p.batched = s.batch > 1;
  p.heads = s.heads;
  p.kv_heads = s.kv_heads;
  p.grouped = s.heads != s.kv_heads;
  p.X = dice.tensor({s.batch, 1, s.tokens, s.d_model});
  if (s.cross) p.X_kv = dice.tensor({s.batch, 1, s.keys, s.d_kv});
  const Index d_kv = s.cross ? s.d_kv : s.d_model;
  p.Q = {dice.tensor({1, s.heads, s.d_model, s.d_k}), dice.tensor({1, s.heads, 1, s.d_k})};
  p.K = {dice.tensor({1, s.kv_heads, d_kv, s.d_k}), dice.tensor({1, s.kv_heads, 1, s.d_k})};
  p.V = {dice.tensor({1, s.kv_heads, d_kv, s.d_v}), dice.tensor({1, s.kv_heads, 1, s.d_v})};
  p.O = {dice.tensor({1, 1, s.heads * s.d_v, s.d_out}), dice.tensor({1, 1, 1, s.d_out})};
  return p;
}

inline Sizes random_sizes(Dice& dice) {
  Sizes s;
  s.batch = dice.whole(1, 3);
  s.tokens = dice.whole(1, 7);
  s.cross = dice.whole(0, 1) == 1;
  s.keys = s.cross ? dice.whole(1, 7) : s.tokens;
  s.d_model = dice.whole(1, 9);
  s.d_kv = dice.whole(1, 9);
  s.kv_heads = dice.whole(1, 3);
  s.heads = s.kv_heads * dice.whole(1, 3);
  s.d_k = dice.whole(1, 5);
  s.d_v = dice.whole(1, 5);
  s.d_out = dice.whole(1, 6);
  return s;
}

inline Mask matrix_mask(Mask::Kind kind, Tensor matrix) {
  Mask mask;
  mask.kind = kind;
  mask.short_form = false;
  mask.matrix = std::move(matrix);
  return mask;
}

inline Mask causal_mask(Align::Kind align = Align::Kind::top_left) {
  Mask mask;
  mask.kind = Mask::Kind::causal;
  mask.align = Align{align, {}};
  return mask;
}

}  // namespace mha::test
