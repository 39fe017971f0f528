// Counts the operations and the traffic of a step from its shapes.
#include "compute/cost.hpp"

namespace mha::compute {
namespace {

double size_of(const Plan& plan, ValueId id) {
  return static_cast<double>(plan.value(id).shape.size());
}

// For each entry of the result.
double operations_per_entry(const Plan& plan, const Step& step) {
  const double terms = static_cast<double>(step.in.size());
  const Shape& first = plan.value(step.in.front()).shape;
  switch (step.op) {
    case Op::product: return 2 * static_cast<double>(step.first_transposed ? first.rows : first.cols) + terms - 2;
    case Op::rotate: return 3;   // two products and a sum
    case Op::softcap: return 3;  // quotient, tanh, product
    case Op::softmax: return 5;  // maximum, difference, exponential, sum, quotient
    case Op::add: return terms - 1;
    case Op::pool: return static_cast<double>(first.heads);
    case Op::multiply:
    case Op::relu: return 1;
    case Op::split:
    case Op::merge:
    case Op::copy:
    case Op::reshape: return 0;
  }
  return 0;
}

}  // namespace

Cost cost_of(const Plan& plan, const Step& step) {
  const double result = size_of(plan, step.out);
  Cost cost{operations_per_entry(plan, step) * result, result};
  for (const ValueId id : step.in) cost.numbers += size_of(plan, id);
  return cost;
}

double operations(const Plan& plan) {
  double sum = 0;
  for (const Step& step : plan.steps) sum += cost_of(plan, step).operations;
  return sum;
}

}  // namespace mha::compute
