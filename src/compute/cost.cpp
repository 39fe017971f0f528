// Counts the operations and the traffic of a step from its shapes.
#include "compute/cost.hpp"

#include "core/op_rules.hpp"

namespace mha::compute {
namespace {

double size_of(const Plan& plan, ValueId id) {
  return static_cast<double>(plan.value(id).shape.size());
}

double operations_per_entry(const Plan& plan, const Step& step) {
  const OpInfo info = info_of(step.op);
  double operations = info.operations;
  if (info.per_read > 0)
    for_each_term(plan, step, {}, [&](const Term& term) { operations += info.per_read * static_cast<double>(term.count); });
  return operations;
}

}  // namespace

Cost cost_of(const Plan& plan, const Step& step) {
  const double result = size_of(plan, step.out);
  Cost cost{operations_per_entry(plan, step) * result, result};
  for (const ValueId id : step.in) cost.numbers += size_of(plan, id);
  return cost;
}

bool is_view(const Plan& plan, const Step& step) {
  return step.op == Op::split && step.arrangement != Arrangement::interleaved && plan.value(step.in[0]).shape.heads == 1;
}

double operations(const Plan& plan) {
  double sum = 0;
  for (const Step& step : plan.steps) sum += cost_of(plan, step).operations;
  return sum;
}

}  // namespace mha::compute
