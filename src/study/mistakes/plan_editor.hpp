// Changes a plan as a person who makes a mistake does: another operand, a step left out, one more in between.
#pragma once

#include <utility>
#include <vector>

#include "core/plan.hpp"

namespace mha::study {

// Step::id says which row of a person's work a step serves. What is written down as that row keeps its ValueId, so that
// the steps behind it read it as before; every other value made for it is auxiliary (Value::step is empty).
class PlanEditor {
 public:
  explicit PlanEditor(Plan plan, int layer = 0) : plan_(std::move(plan)), layer_(layer) {}

  bool has(StepId id) const { return place(id) < plan_.steps.size(); }
  // The step whose result is written down as `id`; there must be one.
  Step& step(StepId id) { return plan_.steps[place(id)]; }
  // The step that makes this value; there must be one.
  Step& writer(ValueId value);
  // X and all results; there must be one.
  ValueId value(StepId id) const { return *plan_.find(id, layer_); }
  // For a reshape, and for a copy that serves several heads; all other shapes follow from the operands.
  Shape& shape(StepId id) { return plan_.values[static_cast<std::size_t>(value(id))].shape; }
  const Value& operand(ValueId id) const { return plan_.value(id); }

  ValueId constant(std::string symbol, Tensor numbers, Value::Role role = Value::Role::constant);
  ValueId constant(std::string symbol, double number);

  // Another computation of what is written down as step.id.
  void replace(Step step);
  // What this step reads first, in place of its result.
  void leave_out(StepId id) { replace({Op::copy, id, {step(id).in[0]}}); }
  // An auxiliary step just before the one that writes step.id. Only a reshape needs `shape`.
  ValueId insert(Step step, Shape shape = {});
  // One step more: what was written down as step.id becomes auxiliary and the first operand of `step`, whose result is
  // written down instead.
  void append(Step step);
  // An auxiliary step behind what it reads first, in place of which all later steps read its result.
  ValueId insert_behind(Step step, Shape shape);
  // The second step, which comes later, is taken first.
  void exchange(StepId first, StepId second) { std::swap(step(first), step(second)); }

  // All steps but these read `other` where they read `value`.
  void read_instead(ValueId value, ValueId other, const std::vector<StepId>& but);
  void move_behind(StepId id, StepId other);
  void move_before_first_reader(StepId id);

  // Whether all steps are still as they were.
  bool changes_nothing(const Plan& from) const;

  // The plan with all shapes, or nothing where they do not fit. A step that sets what its op makes no use of is our own
  // mistake: the numbers would come out as if nothing had been edited.
  std::optional<Plan> finish() &&;

 private:
  std::size_t place(StepId id) const;
  ValueId add_value(Value value);
  // For a result that is not written down.
  ValueId add_auxiliary(StepId id, Shape shape);

  Plan plan_;
  int layer_;  // whose steps are edited
};

// max(0, what was written down as this step): to be appended.
Step relu(StepId id);

// Follows the shapes of the operands through the steps from `first` on; false where they do not fit.
bool infer_shapes(Plan& plan, StepId first = StepId::X);

}  // namespace mha::study
