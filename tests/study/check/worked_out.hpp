// The numbers of a plan, right or mistaken, as a trace that can be handed in as an answer.
#pragma once

#include "folders.hpp"

#include "compute/engine.hpp"
#include "study/mistakes/plain_attention.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::test {

// With `decimals` each step is rounded before the next reads it.
inline PlainTrace worked_out(const Plan& plan, std::optional<int> decimals = {}) {
  RunOptions options;
  options.keep.assign(plan.values.size(), true);
  options.rounding = decimals;
  const Written numbers = written(plan, compute::run(plan, options));
  PlainTrace trace;
  for (const StepName& name : step_names)
    if (const auto& tensor = numbers[static_cast<std::size_t>(name.step)]) {
      const Shape& s = tensor->shape();
      for (Index head = 0; head < s.heads; ++head) {
        const double* from = tensor->matrix(0, head);
        trace.steps[name.step].push_back({s.rows, s.cols, std::vector<double>(from, from + s.rows * s.cols)});
      }
    }
  return trace;
}

// The first form of the mistake.
inline PlainTrace worked_out(const Problem& problem, std::string_view mistake, std::optional<int> decimals = {}) {
  return worked_out(find_mistake(mistake)->variants(problem).front().plan, decimals);
}

}  // namespace mha::test
