// Two computations held side by side, step by step: two problems, or a problem and the same with a mistake made.
#pragma once

#include <optional>
#include <vector>

#include "study/mistakes/simulate.hpp"

namespace mha::study {

enum class MatrixVerdict { equal, different, other_shape, left_only, right_only };

// One matrix of a step on both sides.
struct ComparedMatrix {
  StepId step;
  Index item = 0, head = 0;  // from 0; what belongs to all heads is found under head 0
  MatrixVerdict verdict = MatrixVerdict::equal;
  double largest = 0;  // |left − right|, for MatrixVerdict::different; infinite where one of them is NaN or infinite alone
  Index row = 0, column = 0;  // where it is largest
};

struct Comparison {
  std::vector<ComparedMatrix> matrices;  // in the order of the computation: all heads of a step before the next step
  std::optional<std::size_t> first;      // the first that is on both sides and not equal
};

// The difference of two numbers: 0 where they are the same to nine digits, infinite where one is NaN or infinite alone.
double difference(double a, double b);

// Numbers are equal when they agree to nine digits: the order of a sum shows in the last ones.
Comparison compare(const Written& left, const Written& right);

}  // namespace mha::study
