// The operations of attention as data: a closed set, with what the engine and the pages must know of each.
#pragma once

#include <array>
#include <string_view>

namespace mha {

enum class Op {
  product,   // a·b (+ bias); b may be used transposed
  split,     // n×(h·d) → h matrices n×d: a reshape and a swap of axes
  rotate,    // pairs of columns turned by an angle: a, cosines, sines
  multiply,  // a × a constant
  softcap,   // c·tanh(a/c)
  add,       // a + masks, each broadcast
  softmax,   // of each row, its maximum subtracted first; a row of −∞ gives zeros
  merge,     // h matrices n×d → n×(h·d): a swap of axes and a reshape
  copy,      // a
};

struct OpInfo {
  Op op;
  std::string_view name;
  bool row_wise;  // row i of the result needs row i of the first operand only
};

inline constexpr std::array op_infos = {
    OpInfo{Op::product, "product", true},   OpInfo{Op::split, "split", false},    OpInfo{Op::rotate, "rotate", true},
    OpInfo{Op::multiply, "multiply", true}, OpInfo{Op::softcap, "softcap", true}, OpInfo{Op::add, "add", true},
    OpInfo{Op::softmax, "softmax", true},   OpInfo{Op::merge, "merge", false},    OpInfo{Op::copy, "copy", true},
};

constexpr const OpInfo& info_of(Op op) {
  return op_infos[static_cast<std::size_t>(op)];
}

}  // namespace mha
