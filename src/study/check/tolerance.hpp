// How far off the result of a step may be when its operands are not known exactly.
#pragma once

#include <memory>
#include <vector>

#include "core/plan.hpp"

namespace mha::study {

// A value, and for each entry how far it may be from the one that was meant.
struct Uncertain {
  std::shared_ptr<const Tensor> numbers;
  std::shared_ptr<const Tensor> radius;  // null: the numbers are exact
};

// Whether the step only places, adds up or chooses among numbers, so that it does to the radii what it does to the numbers:
// the radius of its result is the same step taken on the radii.
bool acts_alike_on_radii(const Step& step);

// The radius of every entry of the result of any other step: a bound of how far it moves while its operands move within
// their radii, and `noise`, the share by which the arithmetic may be off. `values` are those of the plan, by ValueId.
std::shared_ptr<const Tensor> result_radius(const Plan& plan, const Step& step, const std::vector<Uncertain>& values,
                                            const Tensor& result, double noise);

}  // namespace mha::study
