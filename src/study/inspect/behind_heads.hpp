// The part of a layer that follows its heads, from head outputs that are given: those of other heads, or none.
#pragma once

#include <algorithm>
#include <memory>

#include "core/plan.hpp"

namespace mha::study {

// The steps behind head_output, up to the one that computes `last`. Constants that they do not read are left out.
inline Plan behind_heads(Plan plan, int layer, Tensor head_outputs, ValueId last) {
  const ValueId heads = *plan.find(StepId::head_output, layer);
  const auto behind = [&](ValueId id) { return plan.steps.begin() + (plan.writer_of(id) + 1 - plan.steps.data()); };
  plan.steps.erase(behind(last), plan.steps.end());
  plan.steps.erase(plan.steps.begin(), behind(heads));
  std::vector<bool> read(plan.values.size(), false);
  for (const Step& step : plan.steps)
    for (const ValueId id : step.in) read[static_cast<std::size_t>(id)] = true;
  for (std::size_t id = 0; id < read.size(); ++id)
    if (!read[id]) plan.values[id].constant.reset();
  plan.values[static_cast<std::size_t>(heads)].constant = std::make_shared<const Tensor>(std::move(head_outputs));
  return plan;
}

}  // namespace mha::study
