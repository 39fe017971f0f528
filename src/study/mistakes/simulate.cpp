// Simulation of mistakes with the same engine that computes the right answer.
#include "study/mistakes/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/engine.hpp"

namespace mha::study {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(StepId step) {
  return static_cast<std::size_t>(step);
}

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b) / std::max(1.0, std::abs(b));
  return std::isfinite(d) ? d : infinity;
}

bool same(const Tensor* a, const Tensor* b, double tolerance) {
  if (a == nullptr || b == nullptr || a == b) return a == b;
  return study::distance(*a, *b) <= tolerance;
}

bool same_from(StepId from, const Written& a, const Written& b, double tolerance) {
  for (std::size_t step = at(from); step < row_count; ++step)
    if (!same(a[step].get(), b[step].get(), tolerance)) return false;
  return true;
}

void add_once(std::vector<std::string_view>& ids, std::string_view id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

}  // namespace

Written written(const Plan& plan, const Trace& trace) {
  Written result;
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].step) result[at(*plan.values[id].step)] = trace.values[id];
  return result;
}

Trace simulate(const Plan& plan, const Plan* whole, std::optional<StepId> only) {
  compute::RunOptions options;
  options.keep.assign(plan.values.size(), !only);
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (only && plan.values[id].step == only) options.keep[id] = true;
  options.whole = whole;
  return compute::run(plan, options);
}

StepId result_of(const Plan& layer) {
  StepId last = StepId::X;
  for (const Step& step : layer.steps)
    if (const auto& row = layer.value(step.out).step; row && !is_of_no_layer(*row) && !is_gradient(*row)) last = *row;
  return last;
}

Layered layered(const Problem& problem, const PlanOf& plan_of, bool with_numbers) {
  Layered result;
  result.problems = problem.layers.empty() ? std::vector{problem} : problem.layers;
  result.problems.back().final_norm = problem.final_norm;
  const Tensor* received = &problem.X;
  std::vector<std::shared_ptr<const Tensor>> earlier;
  for (Problem& layer : result.problems) {
    if (!(received->shape() == layer.X.shape())) break;
    layer.X = *received;
    layer.earlier = earlier;
    if (!with_numbers && &layer == &result.problems.back()) break;
    if (result.problems.size() > 1) earlier.push_back(std::make_shared<const Tensor>(*received));
    const Plan plan = plan_of(layer, static_cast<int>(result.numbers.size()));
    const StepId last = result_of(plan);
    result.numbers.push_back(written(plan, simulate(plan, nullptr, with_numbers ? std::nullopt : std::optional(last))));
    received = result.numbers.back()[at(last)].get();
  }
  std::optional<Loss> loss = problem.layers.empty() ? std::nullopt : problem.loss;
  for (std::size_t i = result.numbers.size(); loss && result.numbers.size() == result.problems.size() && i-- > 0;) {
    result.problems[i].loss = std::move(loss);
    const Plan plan = plan_of(result.problems[i], static_cast<int>(i));
    result.numbers[i] = written(plan, simulate(plan));
    const auto& back = result.numbers[i][at(StepId::d_X)];  // nothing where a mistake cannot be walked backwards
    loss = back ? std::optional(Loss{Loss::Kind::gradient, *back}) : std::nullopt;
  }
  return result;
}

double distance(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return infinity;
  double largest = 0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, relative_difference(a.data()[i], b.data()[i]));
  return largest;
}

std::optional<StepId> first_step_apart(const Written& numbers, const Written& right, double tolerance) {
  const auto weights = [](const Written& of) { return of[at(StepId::weights)].get(); };
  const bool same_weights = weights(right) != nullptr && same(weights(numbers), weights(right), tolerance);
  for (const StepName& name : row_names)
    if (!(name.step == StepId::masked && same_weights) &&
        !same(numbers[at(name.step)].get(), right[at(name.step)].get(), tolerance))
      return name.step;
  return std::nullopt;
}

std::vector<Written> right_forms(const Problem& problem) {
  std::vector<Written> forms;
  for (const Variant& form : answer_forms(problem)) forms.push_back(written(form.plan, simulate(form.plan)));
  return forms;
}

std::optional<StepId> first_step_wrong(const Written& numbers, const std::vector<Written>& right, double tolerance) {
  StepId first = StepId::X;
  for (const Written& form : right) {
    const std::optional<StepId> difference = first_step_apart(numbers, form, tolerance);
    if (!difference) return std::nullopt;
    first = std::max(first, *difference);
  }
  return first;
}

std::vector<Outcome> outcomes(const Problem& problem, double tolerance) {
  const std::vector<Written> right = right_forms(problem);
  std::vector<Outcome> all;
  for (const Mistake& mistake : mistakes())
    for (Variant& variant : mistake.variants(problem)) {
      Written numbers = written(variant.plan, simulate(variant.plan));
      const std::optional<StepId> shown_by = first_step_wrong(numbers, right, tolerance);
      all.push_back({&mistake, std::move(variant.detail), std::move(numbers), shown_by});
    }
  return all;
}

IdGroups indistinguishable(const std::vector<Outcome>& outcomes, const std::vector<Written>& right, StepId from,
                           double tolerance) {
  struct Class {
    const Written* numbers;
    std::vector<std::string_view> ids;
  };
  std::vector<Class> classes;
  for (const Outcome& outcome : outcomes) {
    const auto is_right = [&](const Written& form) { return same_from(from, outcome.numbers, form, tolerance); };
    if (std::any_of(right.begin(), right.end(), is_right)) continue;
    const auto alike = [&](const Class& c) { return same_from(from, outcome.numbers, *c.numbers, tolerance); };
    auto found = std::find_if(classes.begin(), classes.end(), alike);
    if (found == classes.end()) found = classes.insert(found, {&outcome.numbers, {}});
    add_once(found->ids, outcome.mistake->id);
  }
  IdGroups groups;
  for (Class& c : classes)
    if (c.ids.size() > 1 && std::find(groups.begin(), groups.end(), c.ids) == groups.end())
      groups.push_back(std::move(c.ids));
  return groups;
}

}  // namespace mha::study
