// What a step costs at least: operations, and numbers read and written.
#pragma once

#include "core/plan.hpp"

namespace mha::compute {

struct Cost {
  double operations = 0;  // additions, multiplications and the like; an exponential counts as one
  double numbers = 0;     // each operand read once, the result written once
};
Cost cost_of(const Plan& plan, const Step& step);

// Of all steps.
double operations(const Plan& plan);

// Whether the result of this split is there on the CPU without copying: heads side by side are views into their operand.
bool is_view(const Plan& plan, const Step& step);

}  // namespace mha::compute
