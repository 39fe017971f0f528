// A plan as rows of a person's work.
#include "study/mistakes/plan_rows.hpp"

#include <algorithm>

namespace mha::study {
namespace {

const Step* writer_of(const Plan& plan, ValueId id) {
  const auto writes = [&](const Step& step) { return step.out == id; };
  const auto found = std::find_if(plan.steps.begin(), plan.steps.end(), writes);
  return found == plan.steps.end() ? nullptr : &*found;
}

bool same_numbers(const Tensor& a, const Tensor& b) {
  if (&a == &b) return true;
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

bool same_step(const Plan& a, const Step& x, const Plan& b, const Step& y);

// Rows are the same by name, constants by their numbers, everything else by how it is computed.
bool same_value(const Plan& a, ValueId x, const Plan& b, ValueId y) {
  const Value &left = a.value(x), &right = b.value(y);
  if (left.step || right.step) return left.step == right.step;
  if (left.constant && right.constant) return same_numbers(*left.constant, *right.constant);
  const Step *makes_left = writer_of(a, x), *makes_right = writer_of(b, y);
  return makes_left != nullptr && makes_right != nullptr && same_step(a, *makes_left, b, *makes_right);
}

bool same_step(const Plan& a, const Step& x, const Plan& b, const Step& y) {
  if (x.op != y.op || x.transposed != y.transposed || x.first_transposed != y.first_transposed) return false;
  if (x.cap != y.cap || x.pairing != y.pairing || x.arrangement != y.arrangement) return false;
  if (x.pooling != y.pooling || !(x.softmax == y.softmax) || x.in.size() != y.in.size()) return false;
  if (!(a.value(x.out).shape == b.value(y.out).shape)) return false;
  for (std::size_t i = 0; i < x.in.size(); ++i)
    if (!same_value(a, x.in[i], b, y.in[i])) return false;
  return true;
}

}  // namespace

RowPlan::RowPlan(Plan of) : plan(std::move(of)) {
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (const std::optional<StepId>& step = plan.values[id].step)
      row[static_cast<std::size_t>(*step)] = static_cast<ValueId>(id);
  schedule.only_blocks.assign(plan.values.size(), false);
}

Rows changed_rows(const RowPlan& changed, const RowPlan& right) {
  Rows rows{};
  for (std::size_t step = 0; step < step_count; ++step) {
    const std::optional<ValueId> x = changed.row[step], y = right.row[step];
    if (!x || !y) {
      rows[step] = x.has_value() != y.has_value();
      continue;
    }
    const Step *makes_x = writer_of(changed.plan, *x), *makes_y = writer_of(right.plan, *y);
    if (makes_x == nullptr || makes_y == nullptr) continue;  // X, which is given
    rows[step] = !same_step(changed.plan, *makes_x, right.plan, *makes_y);
  }
  return rows;
}

}  // namespace mha::study
