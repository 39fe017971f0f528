// A plan as rows of a person's work.
#include "study/check/plan_rows.hpp"

#include <algorithm>

#include "core/op_rules.hpp"

namespace mha::study {
namespace {

bool same_numbers(const Tensor& a, const Tensor& b) {
  if (&a == &b) return true;
  if (!(a.shape() == b.shape())) return false;
  const Index cols = a.shape().cols;
  std::vector<double> own_room, other_room;
  for (Index i = 0; i < a.size() / cols; ++i) {
    const double *own = a.row(i, own_room), *other = b.row(i, other_room);
    if (!std::equal(own, own + cols, other)) return false;
  }
  return true;
}

bool same_step(const Plan& a, const Step& x, const Plan& b, const Step& y);

// Rows are the same by name, constants by their numbers, everything else by how it is computed.
bool same_value(const Plan& a, ValueId x, const Plan& b, ValueId y) {
  const Value &left = a.value(x), &right = b.value(y);
  if (left.step || right.step) return left.step == right.step;
  if (left.constant && right.constant) return same_numbers(*left.constant, *right.constant);
  const Step *makes_left = a.writer_of(x), *makes_right = b.writer_of(y);
  return makes_left != nullptr && makes_right != nullptr && same_step(a, *makes_left, b, *makes_right);
}

bool same_step(const Plan& a, const Step& x, const Plan& b, const Step& y) {
  if (!computes_alike(x, y)) return false;
  const bool shape_follows = x.op != Op::reshape && x.op != Op::copy && x.op != Op::sum;  // from the operands
  if (!shape_follows && !(a.value(x.out).shape == b.value(y.out).shape)) return false;
  for (std::size_t i = 0; i < x.in.size(); ++i)
    if (!same_value(a, x.in[i], b, y.in[i])) return false;
  return true;
}

}  // namespace

RowPlan::RowPlan(Plan of) : plan(std::move(of)) {
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (const std::optional<StepId>& step = plan.values[id].step)
      row[static_cast<std::size_t>(*step)] = static_cast<ValueId>(id);
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].role == Value::Role::constant && plan.values[id].symbol == "G")
      loss_gradient = static_cast<ValueId>(id);
  schedule.only_blocks.assign(plan.values.size(), false);
  schedule.grows.assign(plan.values.size(), false);
}

Rows changed_rows(const RowPlan& changed, const RowPlan& right) {
  Rows rows{};
  for (std::size_t step = 0; step < row_count; ++step) {
    const std::optional<ValueId> x = changed.row[step], y = right.row[step];
    if (!x || !y) {
      rows[step] = x.has_value() != y.has_value();
      continue;
    }
    const Step *makes_x = changed.plan.writer_of(*x), *makes_y = right.plan.writer_of(*y);
    if (makes_x == nullptr || makes_y == nullptr) continue;  // X, which is given
    rows[step] = !same_step(changed.plan, *makes_x, right.plan, *makes_y);
  }
  return rows;
}

Taint::Taint(const RowPlan& rows) : rows_(rows) {
  for (const Value& value : rows.plan.values) heads_.emplace_back(static_cast<std::size_t>(value.shape.heads), false);
}

bool Taint::has(StepId step, std::size_t head) const {
  const std::vector<bool>& heads = heads_[static_cast<std::size_t>(*rows_.value(step))];
  return head < heads.size() && heads[head];
}

void Taint::add(StepId step, std::size_t head) {
  std::vector<bool>& heads = heads_[static_cast<std::size_t>(*rows_.value(step))];
  if (head < heads.size()) heads[head] = true;
}

void Taint::spread_to(StepId step) {
  for (const Step& computed : rows_.plan.steps)
    if (computed.id == step) spread(computed);
}

// Where entries are only moved, each may come from another head; else all entries of a head read the same heads.
void Taint::spread(const Step& step) {
  const Shape& to = rows_.plan.value(step.out).shape;
  if (std::none_of(step.in.begin(), step.in.end(), [&](ValueId id) {
        const std::vector<bool>& heads = heads_[static_cast<std::size_t>(id)];
        return std::find(heads.begin(), heads.end(), true) != heads.end();
      }))
    return;
  const bool moves = info_of(step.op).moves;
  std::vector<bool>& out = heads_[static_cast<std::size_t>(step.out)];
  const auto mark = [&](std::size_t head, Index row, Index column) {
    for_each_term(rows_.plan, step, {0, static_cast<Index>(head), row, column}, [&](const Term& term) {
      for (const Read& read : term)
        if (heads_[static_cast<std::size_t>(step.in[read.operand])][static_cast<std::size_t>(read.at.head)])
          out[head] = true;
    });
  };
  for (std::size_t head = 0; head < out.size(); ++head)
    for (Index row = 0; row < (moves ? to.rows : 1); ++row)
      for (Index column = 0; column < (moves ? to.cols : 1) && !out[head]; ++column) mark(head, row, column);
}

}  // namespace mha::study
