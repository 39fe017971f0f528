// How exactly the numbers of an answer are known, which decides how far they may be from what is expected.
#pragma once

#include <optional>

#include "io/problem/answer.hpp"

namespace mha::study {

// What a person asks for in place of what the written decimals tell.
struct ToleranceOptions {
  std::optional<double> tol;  // |given − expected| ≤ tol + rtol·|expected|, in every step alike
  std::optional<double> rtol;
  std::optional<int> sigfig;  // the numbers are written to so many significant figures
};

struct Precision {
  double absolute = 0;          // half a unit of the last decimal
  double relative = 0;          // the same as a share of the number
  double absolute_between = 0;  // of steps that were computed but not handed in
  double noise = 0;             // the share by which arithmetic in floating point may be off
  bool propagated = true;       // what is not known of a step's operands is not known of its result

  // How far a written number may be from the one that was meant.
  double written(double number) const;
  // The same for a number that was worked with but not handed in.
  double between(double number) const;
};

Precision precision_of(const io::Answer& answer, const ToleranceOptions& options);

}  // namespace mha::study
