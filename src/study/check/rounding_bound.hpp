// How far a step's result may be off when it is computed in float32 or float64, from the same operands.
#pragma once

#include <memory>
#include <vector>

#include "core/trace.hpp"

namespace mha::study {

using Operands = std::vector<std::shared_ptr<const Tensor>>;

// The step alone, computed by the CPU in float64 from these operands (one for each of step.in, in their shapes).
std::shared_ptr<const Tensor> recomputed(const Plan& plan, const Step& step, const Operands& operands);

// For each entry of the result: the largest |computed − true| that arithmetic of this dtype can account for, whatever the
// order of its sums; `reference` is what recomputed() gave. 0 where the step only moves numbers. Steps of attention alone:
// the ops of simulated mistakes have no bound and give 0.
Tensor rounding_bound(const Plan& plan, const Step& step, const Operands& operands, const Tensor& reference, Dtype dtype);

}  // namespace mha::study
