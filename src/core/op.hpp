// The operations of attention as data: a closed set, with what the engine and the pages must know of each.
#pragma once

#include <array>

#include "core/tensor.hpp"
#include "core/text.hpp"

namespace mha {

enum class Op {
  product,     // a·b (+ bias); b may be used transposed
  split,       // n×(h·d) → h matrices n×d: a reshape and a swap of axes
  rotate,      // pairs of columns turned by an angle: a, cosines, sines
  multiply,    // a ∘ b, entry by entry, b broadcast: a constant, or 0/1 entries
  softcap,     // c·tanh(a/c)
  add,         // a + masks, each broadcast
  softmax,     // of each row (or another Softmax), its maximum subtracted first; a row of −∞ gives zeros
  merge,       // h matrices n×d → n×(h·d): a swap of axes and a reshape
  copy,        // a
  norm,        // of each row: (a − mean)/√(variance + eps) ∘ γ + β, or a/√(mean of a² + eps) ∘ γ
  activation,  // f(a), or with a gate f(a) ∘ b
  // What the gradients of these need beside them.
  difference,  // (a − b) ∘ c, b and c broadcast; c may be left out
  slope,       // a ∘ f′(b) for the activation or the soft cap f, or with a gate a ∘ f′(b) ∘ c
  norm_slope,  // what a becomes through a norm of the rows of b, with or without γ: c
  sum,         // Σ a, or Σ a ∘ b, over what the result lacks: columns, rows, heads of a group, items
  // These two are no part of attention; mistakes need them.
  reshape,  // the same numbers in the same order, read as another shape
  pool,     // mean, sum or maximum over the heads
};

// How split and merge place the heads in the columns: side by side (head 1's d columns first), the heads in reverse order,
// or interleaved (head i has columns i, i + h, i + 2h, …).
enum class Arrangement { side_by_side, reversed, interleaved };

// The column of n×(heads·d) in which column c of this head stands, and the way back.
constexpr Index column_of(Arrangement arrangement, Index head, Index heads, Index c, Index d) {
  switch (arrangement) {
    case Arrangement::side_by_side: return head * d + c;
    case Arrangement::reversed: return (heads - 1 - head) * d + c;
    case Arrangement::interleaved: return c * heads + head;
  }
  return 0;
}

struct HeadColumn {
  Index head, column;
};
constexpr HeadColumn head_column_of(Arrangement arrangement, Index column, Index heads, Index d) {
  switch (arrangement) {
    case Arrangement::side_by_side: return {column / d, column % d};
    case Arrangement::reversed: return {heads - 1 - column / d, column % d};
    case Arrangement::interleaved: return {column % heads, column / heads};
  }
  return {};
}

enum class Pooling { mean, sum, maximum };

// Attention's softmax, and what people compute instead of it.
struct Softmax {
  enum class Over { row, column, heads, matrix, items };
  enum class Power { e, two, none };  // e^z, 2^z, z itself
  Over over = Over::row;
  Power power = Power::e;
  bool maximum_subtracted = true;
  bool one_more = false;      // one added to the denominator
  bool empty_is_nan = false;  // what a row of −∞ gives: NaN instead of zeros

  bool operator==(const Softmax&) const = default;
};

// How rows are normalised (Ba et al. 2016; Zhang and Sennrich 2019).
struct Norm {
  enum class Kind { layer, rms };
  Kind kind = Kind::layer;
  double eps = 1e-5;
  bool sample_variance = false;  // layer: divided by d − 1 instead of d
  bool eps_outside = false;      // √variance + eps
  bool by_column = false;        // over the tokens instead of each token's entries
  // On the way back: as if these did not depend on the row.
  bool mean_is_constant = false, deviation_is_constant = false;

  bool operator==(const Norm&) const = default;
};

// gelu: x·Φ(x); gelu_tanh: its approximation ½x·(1 + tanh(√(2/π)·(x + 0.044715x³))) (Hendrycks and Gimpel 2016); silu:
// x/(1 + e^−x).
enum class Activation { none, relu, gelu, gelu_tanh, silu };
inline constexpr std::array<std::string_view, 5> activation_names = {"none", "relu", "gelu", "gelu_tanh", "silu"};

// What an op makes use of beside its operands: fields of a Step. All others must be left as they are.
enum StepField : unsigned {
  uses_transposed = 1,
  uses_cap = 2,
  uses_pairing = 4,
  uses_arrangement = 8,
  uses_pooling = 16,
  uses_softmax = 32,
  uses_heads_first = 64,
  uses_norm = 128,
  uses_activation = 256,
};

// What the entries that an op normalises together sum to, but for a row in which all are hidden: 1, or less where something
// that is no entry takes part.
enum class Shares { none, of_one, of_less };

// One row for each op. What it reads and gives stands in core/op_rules.hpp, how it is computed in the backends.
struct OpInfo {
  std::string_view name;
  std::string_view sign = {};  // between its operands; none: a function of the first one
  bool row_wise = false;       // row i of the result needs row i of the first operand only
  bool moves = false;          // each entry is one entry of the operand, as it is
  bool sums = false;           // an entry is a sum with as many terms as it reads (or, pooled, their maximum)
  Shares shares = {};          // those terms are powers, and an entry is its own share in the sum
  double operations = 0;       // for an entry of the result, and
  double per_read = 0;         // as many more for each entry that it reads
  unsigned fields = 0;         // StepField
  Text way = {};               // how it is done with a pencil, where its formula alone does not say
};

constexpr OpInfo info_of(Op op) {
  switch (op) {
    case Op::product:
      return {.name = "product",
              .sign = "·",
              .row_wise = true,
              .sums = true,
              .per_read = 1,
              .fields = uses_transposed,
              .way = {"entry [i,j]: row i of the left matrix times column j of the right one, term by term, added up",
                      "元素 [i,j]：左矩阵第 i 行与右矩阵第 j 列逐项相乘再相加"}};
    case Op::split: return {.name = "split", .moves = true, .fields = uses_arrangement};
    case Op::rotate: return {.name = "rotate", .row_wise = true, .operations = 3, .fields = uses_pairing | uses_transposed};
    case Op::multiply: return {.name = "multiply", .sign = "∘", .row_wise = true, .operations = 1};
    case Op::softcap: return {.name = "softcap", .row_wise = true, .operations = 3, .fields = uses_cap};
    case Op::add:
      return {.name = "add",
              .sign = "+",
              .row_wise = true,
              .sums = true,
              .operations = -1,
              .per_read = 1,
              .way = {"entry by entry; anything plus −∞ is −∞", "逐个元素相加；任何数加 −∞ 都是 −∞"}};
    case Op::softmax:  // maximum, difference, exponential, sum, quotient
      return {.name = "softmax",
              .row_wise = true,
              .sums = true,
              .shares = Shares::of_one,
              .operations = 5,
              .fields = uses_softmax,
              .way = {"e^z of each entry, divided by the sum of these over its row; e^(−∞) is 0",
                      "每个元素取 e^z，再除以该行各 e^z 之和；e^(−∞) 为 0"}};
    case Op::merge: return {.name = "merge", .moves = true, .fields = uses_arrangement};
    case Op::copy: return {.name = "copy", .row_wise = true, .moves = true};
    case Op::norm:  // a sum and a sum of squares; difference, quotient, γ and β
      return {.name = "norm", .row_wise = true, .operations = 4, .per_read = 3, .fields = uses_norm};
    case Op::activation: return {.name = "activation", .row_wise = true, .operations = 6, .fields = uses_activation};
    case Op::difference: return {.name = "difference", .sign = "−", .row_wise = true, .operations = 2};
    case Op::slope: return {.name = "slope", .row_wise = true, .operations = 8, .fields = uses_activation | uses_cap};
    case Op::norm_slope:  // as the norm, and two means more
      return {.name = "norm_slope",
              .row_wise = true,
              .operations = 6,
              .per_read = 2,
              .fields = uses_norm,
              .way = {"x̂ is what the norm gave before γ and β, σ the root that it divided by",
                      "x̂ 是归一化后、乘 γ 加 β 之前的值，σ 是归一化时所除的根"}};
    case Op::sum: return {.name = "sum", .sums = true, .per_read = 1};
    case Op::reshape: return {.name = "reshape", .moves = true, .fields = uses_heads_first};
    case Op::pool: return {.name = "pool", .sums = true, .per_read = 1, .fields = uses_pooling};
  }
  return {};
}

}  // namespace mha
