// Walks a plan on a backend and collects the trace.
#pragma once

#include <functional>

#include "compute/backend.hpp"

namespace mha {

// Called after each step. It may read the step's whole result (Backend::get) and put another in its place (Backend::set)
// before the next step reads it.
using AfterStep = std::function<void(const Step&, Backend&)>;

struct RunOptions {
  std::vector<bool> keep;  // by ValueId: values that the trace shall hold
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;  // each step's result is rounded to so many decimals before the next step reads it
  AfterStep after = {};         // sees the result as rounded
  std::vector<bool> take = {};  // by ValueId: computed values whose rows go to `taker`, kept or not
  RowTaker* taker = nullptr;
};

// The values that these steps compute, and with `operands` those that they read as well.
std::vector<bool> values_to_keep(const Plan& plan, const Selection& selection, bool operands);

// Which steps are taken together in blocks of rows. The blocks never depend on what is kept, so neither do the results.
Schedule make_schedule(const Plan& plan, const RunOptions& options);

// All steps of the plan on the CPU.
Trace run(const Plan& plan, const RunOptions& options);

}  // namespace mha
