// Walks a plan on a backend and collects the trace.
#pragma once

#include <functional>

#include "compute/backend.hpp"

namespace mha {

struct RunOptions {
  std::vector<bool> keep;  // by ValueId: values that the trace shall hold
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;  // each step's result is rounded to so many decimals before the next step reads it
};

// The values that these steps compute, and with `operands` those that they read as well.
std::vector<bool> values_to_keep(const Plan& plan, const Selection& selection, bool operands);

// Which steps are taken together in blocks of rows. The blocks never depend on what is kept, so neither do the results.
Schedule make_schedule(const Plan& plan, const RunOptions& options);

// All steps of the plan on the CPU.
Trace run(const Plan& plan, const RunOptions& options);

}  // namespace mha
