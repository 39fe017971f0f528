// Two tokens, two heads, a causal mask and a scale of 1/2, with every step worked out by hand.
#pragma once

#include "folders.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "core/plan.hpp"
#include "core/problem.hpp"
#include "core/trace.hpp"
#include "show/pages/page_parts.hpp"
#include "show/writers.hpp"

namespace mha::test {

inline constexpr double hidden = -std::numeric_limits<double>::infinity();

inline Tensor tensor(Shape shape, std::initializer_list<double> numbers) {
  Tensor result(shape);
  std::copy(numbers.begin(), numbers.end(), result.data());
  return result;
}

inline Tensor filled(Shape shape, double value) {
  Tensor result(shape);
  result.fill(value);
  return result;
}

inline Problem small_problem() {
  Problem problem;
  problem.title.en = "small";
  problem.tokens = {{"he", "reads"}};
  problem.X = tensor({1, 1, 2, 2}, {1, 2, 0, 1});
  problem.heads = problem.kv_heads = 2;
  problem.head_names = {"who", ""};
  for (Linear* linear : {&problem.Q, &problem.K, &problem.V}) linear->W = tensor({1, 2, 2, 1}, {1, 0, 0, 1});
  problem.O.W = tensor({1, 1, 2, 2}, {1, 1, 0, 2});
  problem.scale = {Scale::Kind::number, 0.5};
  Mask causal;
  causal.kind = Mask::Kind::causal;
  problem.masks = {causal};
  return problem;
}

// No values; `keep` adds them.
inline Trace empty_trace(const Plan& plan) {
  Trace trace;
  trace.values.resize(plan.values.size());
  return trace;
}

inline void keep(const Plan& plan, Trace& trace, StepId step, Tensor value) {
  trace.values[static_cast<std::size_t>(*plan.find(step))] = std::make_shared<const Tensor>(std::move(value));
}

inline Trace small_trace(const Plan& plan) {
  Trace trace = empty_trace(plan);
  const double a = 1 / (1 + std::exp(-0.5));  // 0.622
  for (const StepId step : {StepId::Q, StepId::K, StepId::V}) keep(plan, trace, step, tensor({1, 2, 2, 1}, {1, 0, 2, 1}));
  keep(plan, trace, StepId::scores, tensor({1, 2, 2, 2}, {1, 0, 0, 0, 4, 2, 2, 1}));
  keep(plan, trace, StepId::scaled, tensor({1, 2, 2, 2}, {0.5, 0, 0, 0, 2, 1, 1, 0.5}));
  keep(plan, trace, StepId::masked, tensor({1, 2, 2, 2}, {0.5, hidden, 0, 0, 2, hidden, 1, 0.5}));
  keep(plan, trace, StepId::weights, tensor({1, 2, 2, 2}, {1, 0, 0.5, 0.5, 1, 0, a, 1 - a}));
  keep(plan, trace, StepId::head_output, tensor({1, 2, 2, 1}, {1, 0.5, 2, 1 + a}));
  keep(plan, trace, StepId::concat, tensor({1, 1, 2, 2}, {1, 2, 0.5, 1 + a}));
  keep(plan, trace, StepId::output, tensor({1, 1, 2, 2}, {1, 5, 0.5, 2.5 + 2 * a}));
  return trace;
}

inline Selection only(std::initializer_list<StepId> steps) {
  Selection selection;
  selection.steps.assign(step_count, false);
  for (const StepId step : steps) selection.steps[static_cast<std::size_t>(step)] = true;
  return selection;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The text with every run of spaces and line breaks as one space: what it says, wherever its lines break.
inline std::string unwrapped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || result.empty() || result.back() != ' ') result += space ? ' ' : c;
  }
  return result;
}

}  // namespace mha::test
