// What a step costs at least: operations, multiply-adds, exponentials, and numbers read and written. The one place that
// counts.
#pragma once

#include <initializer_list>

#include "core/plan.hpp"

namespace mha::compute {

struct Cost {
  double operations = 0;  // additions, multiplications and the like; an exponential counts as one
  double numbers = 0;     // each operand read once, the result written once
};
Cost cost_of(const Plan& plan, const Step& step);

// Of all steps.
double operations(const Plan& plan);

// Exact, from the shapes alone; an Error where a count does not fit in 64 bits.
struct Count {
  Index multiply_adds = 0;  // of a matrix product, a bias not among them; hidden entries are computed all the same
  Index exponentials = 0;   // of a softmax
  Index numbers = 0;        // in the result
};
Count count_of(const Plan& plan, const Step& step);
Index exact_product(std::initializer_list<Index> factors);
Index exact_sum(Index a, Index b);

// Whether the result of this split is there on the CPU without copying: heads side by side are views into their operand.
bool is_view(const Plan& plan, const Step& step);
// The same of any step: what the heads computed stands side by side from the start.
bool copies_nothing(const Plan& plan, const Step& step);

}  // namespace mha::compute
