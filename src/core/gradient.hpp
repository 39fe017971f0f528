// The backward pass as data: a plan made from a plan.
#pragma once

#include "core/trace.hpp"

namespace mha {

// The forward plan, and behind its steps those of dL/d(value) for each of its values but masks and constants, from the
// result back to X: reverse mode, one vector–Jacobian product for each op. What several steps read gets their parts added.
// The plan refers to the loss, which must outlive it.
Plan with_gradient(Plan forward, const Loss& loss);

// The plan of a problem, and the way back where it has a loss.
Plan plan_with_gradient(const Problem& problem);

// The same of a mistake's plan: nothing where it has steps that cannot be walked backwards, or another result than the
// loss.
std::optional<Plan> with_gradient_if_any(Plan forward, const Loss& loss);

// The row of a person's work in which this gradient stands; nothing where it has none.
std::optional<StepId> row_of_gradient(const Plan& plan, const Value& gradient);

// L of a result; nothing where its gradient alone is known.
std::optional<double> loss_of(const Loss& loss, const Tensor& result);

// Every tensor of weights, biases, γ and β of a problem (const or not), its layers' behind its own.
template <typename AProblem, typename Visit>
void for_each_parameter(AProblem& problem, Visit visit) {
  const auto linear = [&](auto& given) {
    visit(given.W);
    if (given.b) visit(*given.b);
  };
  const auto norm = [&](auto& given) {
    if (given && given->gamma) visit(*given->gamma);
    if (given && given->beta) visit(*given->beta);
  };
  if (problem.layers.empty()) {
    linear(problem.Q), linear(problem.K), linear(problem.V);
    if (!problem.output_is_concat) linear(problem.O);
  }
  norm(problem.norm), norm(problem.mlp_norm), norm(problem.final_norm);
  if (problem.mlp) linear(problem.mlp->first), linear(problem.mlp->second);
  if (problem.mlp && problem.mlp->gate) linear(*problem.mlp->gate);
  for (auto& layer : problem.layers) for_each_parameter(layer, visit);
}

// The same problem with other parameters: change(tensor, the value of the plan that it is) gives each.
template <typename Change>
Problem with_parameters(const Problem& problem, const Plan& plan, Change change) {
  Problem result = problem;
  std::vector<const Tensor*> given;
  for_each_parameter(problem, [&](const Tensor& tensor) { given.push_back(&tensor); });
  auto next = given.begin();
  for_each_parameter(result, [&](Tensor& tensor) {
    const Tensor* const own = *next++;
    for (std::size_t id = 0; id < plan.values.size(); ++id)
      if (plan.values[id].constant.get() == own) return void(tensor = change(*own, static_cast<ValueId>(id)));
  });
  return result;
}

// The problem with dL/d of each parameter in the parameter's place, as far as the trace holds them.
Problem gradients_of_parameters(const Problem& problem, const Plan& plan, const Trace& trace);

}  // namespace mha
