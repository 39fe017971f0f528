// The operations of attention as data: a closed set, with what the engine and the pages must know of each.
#pragma once

#include <array>
#include <string_view>

#include "core/tensor.hpp"

namespace mha {

enum class Op {
  product,   // a·b (+ bias); b may be used transposed
  split,     // n×(h·d) → h matrices n×d: a reshape and a swap of axes
  rotate,    // pairs of columns turned by an angle: a, cosines, sines
  multiply,  // a ∘ b, entry by entry, b broadcast: a constant, or 0/1 entries
  softcap,   // c·tanh(a/c)
  add,       // a + masks, each broadcast
  softmax,   // of each row (or another Softmax), its maximum subtracted first; a row of −∞ gives zeros
  merge,     // h matrices n×d → n×(h·d): a swap of axes and a reshape
  copy,      // a
  // These three are no part of attention; mistakes need them.
  relu,     // max(a, 0)
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
  enum class Over { row, column, heads, matrix };
  enum class Power { e, two, none };  // e^z, 2^z, z itself
  Over over = Over::row;
  Power power = Power::e;
  bool maximum_subtracted = true;
  bool one_more = false;      // one added to the denominator
  bool empty_is_nan = false;  // what a row of −∞ gives: NaN instead of zeros

  bool operator==(const Softmax&) const = default;
};

struct OpInfo {
  Op op;
  std::string_view name;
  bool row_wise;  // row i of the result needs row i of the first operand only
};

inline constexpr std::array op_infos = {
    OpInfo{Op::product, "product", true},   OpInfo{Op::split, "split", false},     OpInfo{Op::rotate, "rotate", true},
    OpInfo{Op::multiply, "multiply", true}, OpInfo{Op::softcap, "softcap", true},  OpInfo{Op::add, "add", true},
    OpInfo{Op::softmax, "softmax", true},   OpInfo{Op::merge, "merge", false},     OpInfo{Op::copy, "copy", true},
    OpInfo{Op::relu, "relu", true},         OpInfo{Op::reshape, "reshape", false}, OpInfo{Op::pool, "pool", false},
};

constexpr const OpInfo& info_of(Op op) {
  return op_infos[static_cast<std::size_t>(op)];
}

}  // namespace mha
