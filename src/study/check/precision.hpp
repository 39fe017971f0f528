// How exactly an answer's numbers are known: the form of each of its matrices, and what that says of steps not handed in.
#pragma once

#include <functional>
#include <set>

#include "study/check/given.hpp"

namespace mha::study {

// What a person asks for in place of what the numbers tell.
struct ToleranceOptions {
  std::optional<double> tol;  // |given − expected| ≤ tol + rtol·|expected|, in every step alike
  std::optional<double> rtol;
  std::optional<int> sigfig;       // the numbers are written to so many significant figures
  const Floats* floats = nullptr;  // they were computed in these
};

struct Precision {
  NumberForm between;       // of numbers that were worked with but not handed in
  bool propagated = true;   // what is not known of a step's operands is not known of its result
  bool worst_case = false;  // all that was rounded in between may err in one direction, whatever is likely
  std::array<const Floats*, row_count> computed_in = {};  // by StepId; null: none of its matrices was handed in

  std::set<int> factor_decimals;  // to which 1/√d_k or √d_k may have been rounded

  const FloatingPoint& arithmetic(StepId step) const;
};

// The true numbers of a step in a layer, of all heads; null where the problem has no such step.
using TrueNumbers = std::function<const Tensor*(std::size_t layer, StepId)>;

// Tells each matrix of each layer its form. What a matrix is does not depend on the others, unless its numbers fit any
// form: whole numbers, and those that are exact with fewer decimals than the others are written with.
Precision recognise_forms(std::vector<GivenMatrices>& layers, const ToleranceOptions& options, const TrueNumbers& truth);

}  // namespace mha::study
