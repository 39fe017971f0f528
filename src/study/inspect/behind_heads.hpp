// The part of a layer that follows its heads, from head outputs that are given: those of other heads, or none.
#pragma once

#include "compute/engine.hpp"

namespace mha::study {

// What the steps behind head_output compute, up to the one that computes `last`. Constants that they do not read are left
// out.
inline Trace behind_heads(const Plan& whole, int layer, Tensor head_outputs, ValueId last) {
  Plan plan = whole;
  const ValueId heads = *plan.find(StepId::head_output, layer);
  const auto behind = [&](ValueId id) { return plan.steps.begin() + (plan.writer_of(id) + 1 - plan.steps.data()); };
  plan.steps.erase(behind(last), plan.steps.end());
  plan.steps.erase(plan.steps.begin(), behind(heads));
  compute::RunOptions options;
  options.whole = &whole;
  options.keep.assign(plan.values.size(), false);
  std::vector<bool> read = options.keep;
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.in) read[static_cast<std::size_t>(id)] = true;
    options.keep[static_cast<std::size_t>(step.out)] = true;
  }
  for (std::size_t id = 0; id < read.size(); ++id)
    if (!read[id]) plan.values[id].constant.reset();
  plan.values[static_cast<std::size_t>(heads)].constant = std::make_shared<const Tensor>(std::move(head_outputs));
  return compute::run(plan, options);
}

}  // namespace mha::study
