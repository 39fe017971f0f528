// One weight matrix with its bias, or those of all heads on top of one another.
#pragma once

#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

// What the weights are multiplied with: X, X_kv or Concat.
struct OperandShape {
  std::string_view name;
  Index rows;
  Index cols;
};

// The matrices of all heads, or one for all of them, in the file.
struct LinearNodes {
  std::string_view name;   // "Q": the matrices are W_Q and the biases b_Q
  std::string_view width;  // what the columns of X·W are called: "d_k"
  std::vector<Node*> W;
  std::vector<Node*> b;  // null where there is none
};

// Takes the numbers out of the nodes after checking them against the operand, against one another and against their biases.
Linear take_linear(const LinearNodes& nodes, const OperandShape& operand, Layout layout);

// Columns of X·W.
Index width_of(const Shape& shape, Layout layout);

// The columns first … first + count − 1 of X·W + b.
Linear cut(const Linear& whole, Index first, Index count, Layout layout);

}  // namespace mha::io
