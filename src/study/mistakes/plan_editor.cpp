// Changes to a plan, and the shapes that follow from them.
#include "study/mistakes/plan_editor.hpp"

#include <algorithm>
#include <cassert>

namespace mha::study {
namespace {

// One count serves the other: equal, or broadcast by the group rule.
bool goes_into(Index small, Index large) {
  return small > 0 && large % small == 0;
}

bool goes_onto(const Shape& b, const Shape& a) {
  return goes_into(b.batch, a.batch) && goes_into(b.heads, a.heads) && (b.rows == 1 || b.rows == a.rows) &&
         (b.cols == 1 || b.cols == a.cols);
}

std::optional<Shape> product_shape(const Step& step, Shape a, Shape b) {
  if (step.first_transposed) std::swap(a.rows, a.cols);
  if (step.transposed) std::swap(b.rows, b.cols);
  const Shape result{std::max(a.batch, b.batch), std::max(a.heads, b.heads), a.rows, b.cols};
  const bool fits = a.cols == b.rows && goes_into(a.batch, result.batch) && goes_into(b.batch, result.batch) &&
                    goes_into(a.heads, result.heads) && goes_into(b.heads, result.heads);
  return fits ? std::optional(result) : std::nullopt;
}

// What `a` becomes, where nothing but `a` and the shape set for the result matter.
std::optional<Shape> unary_shape(const Step& step, const Shape& a, const Shape& set) {
  switch (step.op) {
    case Op::split:
      if (a.heads != 1 || !goes_into(set.heads, a.cols)) return std::nullopt;
      return Shape{a.batch, set.heads, a.rows, a.cols / set.heads};
    case Op::merge: return Shape{a.batch, 1, a.rows, a.heads * a.cols};
    case Op::pool: return Shape{a.batch, 1, a.rows, a.cols};
    case Op::reshape:  // of each matrix on its own, or of all heads together
      if (a.rows * a.cols == set.rows * set.cols) return Shape{a.batch, a.heads, set.rows, set.cols};
      if (a.batch != set.batch || a.size() != set.size()) return std::nullopt;
      return set;
    case Op::copy:
      if (!goes_into(a.heads, set.heads)) return std::nullopt;
      return Shape{a.batch, set.heads, a.rows, a.cols};
    case Op::product:
    case Op::rotate:
    case Op::multiply:
    case Op::softcap:
    case Op::add:
    case Op::softmax:
    case Op::relu: return a;
  }
  return std::nullopt;
}

// The shape of the step's result, or nothing where its operands do not fit.
std::optional<Shape> result_shape(const Plan& plan, const Step& step) {
  const auto shape = [&](std::size_t i) -> const Shape& { return plan.value(step.in[i]).shape; };
  const Shape& a = shape(0);
  if (step.op == Op::rotate && (shape(1).rows != a.rows || 2 * shape(1).cols > a.cols)) return std::nullopt;
  const bool is_product = step.op == Op::product;
  const std::optional<Shape> result =
      is_product ? product_shape(step, a, shape(1)) : unary_shape(step, a, plan.value(step.out).shape);
  if (is_product || step.op == Op::multiply || step.op == Op::add)
    for (std::size_t i = is_product ? 2 : 1; result && i < step.in.size(); ++i)
      if (!goes_onto(shape(i), *result)) return std::nullopt;
  return result;
}

}  // namespace

ValueId PlanEditor::constant(std::string symbol, Tensor numbers, Value::Role role) {
  Value value;
  value.role = role;
  value.symbol = std::move(symbol);
  value.per_head = numbers.shape().heads > 1;
  value.shape = numbers.shape();
  value.constant = std::make_shared<const Tensor>(std::move(numbers));
  return add_value(std::move(value));
}

void PlanEditor::replace(Step next) {
  Step& old = step(next.id);
  next.out = old.out;
  old = std::move(next);
}

ValueId PlanEditor::insert(Step next, Shape shape) {
  const std::size_t before = place(next.id);
  assert(before < plan_.steps.size());
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
  next.in.insert(next.in.begin(), auxiliary);
  next.out = written;
  plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(before) + 1, std::move(next));
}

std::optional<Plan> PlanEditor::finish() && {
  if (!infer_shapes(plan_)) return std::nullopt;
  return std::move(plan_);
}

std::size_t PlanEditor::place(StepId id) const {
  const auto writes = [&](const Step& step) { return plan_.value(step.out).step == id; };
  return static_cast<std::size_t>(std::find_if(plan_.steps.begin(), plan_.steps.end(), writes) - plan_.steps.begin());
}

ValueId PlanEditor::add_value(Value value) {
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

bool infer_shapes(Plan& plan, StepId first) {
  for (const Step& step : plan.steps) {
    if (step.id < first) continue;
    const std::optional<Shape> shape = result_shape(plan, step);
    if (!shape) return false;
    plan.values[static_cast<std::size_t>(step.out)].shape = *shape;
  }
  return true;
}

}  // namespace mha::study
