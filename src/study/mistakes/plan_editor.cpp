// Changes to a plan, and the shapes that follow from them.
#include "study/mistakes/plan_editor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "core/op_rules.hpp"

namespace mha::study {
ValueId PlanEditor::constant(std::string symbol, Tensor numbers, Value::Role role) {
  Value value;
  value.role = role;
  value.symbol = std::move(symbol);
  value.per_head = numbers.shape().heads > 1;
  value.shape = numbers.shape();
  value.constant = std::make_shared<const Tensor>(std::move(numbers));
  return add_value(std::move(value));
}

ValueId PlanEditor::constant(std::string symbol, double number) {
  Tensor numbers({1, 1, 1, 1});
  numbers.fill(number);
  return constant(std::move(symbol), std::move(numbers));
}

void PlanEditor::replace(Step next) {
  Step& old = step(next.id);
  next.layer = layer_;
  next.out = old.out;
  old = std::move(next);
}

ValueId PlanEditor::insert(Step next, Shape shape) {
  const std::size_t before = place(next.id);
  assert(before < plan_.steps.size());
  next.layer = layer_;
  next.out = add_auxiliary(next.id, shape);
  plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(before), std::move(next));
  return plan_.steps[before].out;
}

void PlanEditor::append(Step next) {
  const std::size_t before = place(next.id);
  assert(before < plan_.steps.size());
  const ValueId written = plan_.steps[before].out;
  const ValueId auxiliary = add_auxiliary(next.id, plan_.value(written).shape);
  plan_.steps[before].out = auxiliary;
  next.layer = layer_;
  next.in.insert(next.in.begin(), auxiliary);
  next.out = written;
  plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(before) + 1, std::move(next));
}

Step& PlanEditor::writer(ValueId value) {
  return *std::find_if(plan_.steps.begin(), plan_.steps.end(), [&](const Step& step) { return step.out == value; });
}

ValueId PlanEditor::insert_behind(Step next, Shape shape) {
  const ValueId read = next.in.front();
  const auto place = plan_.steps.begin() + (&writer(read) - plan_.steps.data()) + 1;
  next.layer = layer_;
  next.out = add_auxiliary(next.id, shape);
  for (auto later = place; later != plan_.steps.end(); ++later)
    std::replace(later->in.begin(), later->in.end(), read, next.out);
  return plan_.steps.insert(place, std::move(next))->out;
}

void PlanEditor::read_instead(ValueId value, ValueId other, const std::vector<StepId>& but) {
  for (Step& step : plan_.steps)
    if (std::find(but.begin(), but.end(), step.id) == but.end()) std::replace(step.in.begin(), step.in.end(), value, other);
}

void PlanEditor::move_behind(StepId id, StepId other) {
  const auto at = [&](StepId step) { return plan_.steps.begin() + static_cast<std::ptrdiff_t>(place(step)); };
  assert(at(id) < at(other));
  std::rotate(at(id), at(id) + 1, at(other) + 1);
}

void PlanEditor::move_before_first_reader(StepId id) {
  const ValueId written = value(id);
  const auto own = plan_.steps.begin() + static_cast<std::ptrdiff_t>(place(id));
  const auto reads = [&](const Step& step) { return std::count(step.in.begin(), step.in.end(), written) > 0; };
  const auto reader = std::find_if(plan_.steps.begin(), own, reads);
  std::rotate(reader, own, own + 1);
}

bool PlanEditor::changes_nothing(const Plan& from) const {
  const auto same = [](const Step& a, const Step& b) {
    return a.id == b.id && a.in == b.in && a.out == b.out && computes_alike(a, b);
  };
  for (std::size_t id = 0; id < from.values.size(); ++id)
    if (!(plan_.values[id].shape == from.values[id].shape)) return false;
  return std::equal(plan_.steps.begin(), plan_.steps.end(), from.steps.begin(), from.steps.end(), same);
}

std::optional<Plan> PlanEditor::finish() && {
  for (const Step& step : plan_.steps)
    if (!uses_all_that_is_set(step))
      throw std::logic_error(fmt::format("the step {} of an edited plan sets something of which its op {} makes no use",
                                         name_of(step.id).id, info_of(step.op).name));
  if (!infer_shapes(plan_)) return std::nullopt;
  return std::move(plan_);
}

std::size_t PlanEditor::place(StepId id) const {
  const auto writes = [&](const Step& step) { return plan_.value(step.out).step == id && step.layer == layer_; };
  return static_cast<std::size_t>(std::find_if(plan_.steps.begin(), plan_.steps.end(), writes) - plan_.steps.begin());
}

ValueId PlanEditor::add_value(Value value) {
  value.layer = layer_;
  plan_.values.push_back(std::move(value));
  return static_cast<ValueId>(plan_.values.size()) - 1;
}

ValueId PlanEditor::add_auxiliary(StepId id, Shape shape) {
  Value value;
  value.symbol = std::string(name_of(id).symbol) + "′";
  value.per_head = name_of(id).per_head;
  value.shape = shape;
  return add_value(std::move(value));
}

Step relu(StepId id) {
  Step step{Op::activation, id, {}};
  step.activation = Activation::relu;
  return step;
}

bool infer_shapes(Plan& plan, StepId first) {
  for (const Step& step : plan.steps) {
    if (step.id < first) continue;
    const std::optional<Shape> shape = result_shape(plan, step, plan.value(step.out).shape);
    if (!shape) return false;
    plan.values[static_cast<std::size_t>(step.out)].shape = *shape;
  }
  return true;
}

}  // namespace mha::study
