// Weights that dropout changed, recognised from the numbers given.
#include "study/check/diagnose.hpp"

#include "study/mistakes/plan_editor.hpp"

namespace mha::study {
namespace {

// An entry of a wrong head.
struct DroppedOrNot {
  double own, right, tolerance;
  bool is_zero() const { return std::abs(own) <= tolerance; }
  bool is_clear() const { return right > 2 * tolerance; }
};

// Calls visit(at, entry) for all entries that were filled in; false where a wrong head has another shape.
template <typename Visit>
bool each_wrong_entry(const Puzzle& puzzle, Visit visit) {
  const Uncertain& expected = puzzle.right.at(StepId::weights)->expected;
  const Shape& shape = expected.numbers->shape();
  for (std::size_t head = 0; head < puzzle.wrong.size(); ++head) {
    if (!puzzle.wrong[head]) continue;
    const GivenMatrix* given = puzzle.given.find(StepId::weights, static_cast<Index>(head));
    const Likeness* likeness = puzzle.right.given(StepId::weights, head);
    if (given == nullptr || likeness == nullptr || !likeness->same_shape) return false;
    for_each_entry(given->numbers.shape(), [&](const Entry& own) {
      if (given->is_blank((own.item * shape.rows + own.row) * shape.cols + own.column)) return;
      const Entry at{own.item, static_cast<Index>(head), own.row, own.column};
      visit(at, DroppedOrNot{given->numbers.at(own), expected.numbers->at(at), expected.radius->at(at)});
    });
  }
  return true;
}

// 1/(1 − p) for all that are not 0: from the largest, and with as few decimals of p as fit all of them.
std::optional<double> dropout_share(const Puzzle& puzzle) {
  DroppedOrNot largest{0, 0, 0};
  int kept = 0, dropped = 0;
  const bool same_shapes = each_wrong_entry(puzzle, [&](const Entry&, const DroppedOrNot& entry) {
    if (!entry.is_clear()) return;
    ++(entry.is_zero() ? dropped : kept);
    if (!entry.is_zero() && entry.right > largest.right) largest = entry;
  });
  if (!same_shapes || kept < 2 || dropped == 0 || !(largest.own > largest.right)) return std::nullopt;
  const double p = 1 - largest.right / largest.own;
  for (const double decimals : {1, 2, 3, 15}) {
    const double unit = std::pow(10.0, decimals), tried = std::round(p * unit) / unit, factor = 1 / (1 - tried);
    if (!(tried > 0 && tried < 1)) continue;
    bool fits = true;
    each_wrong_entry(puzzle, [&](const Entry&, const DroppedOrNot& entry) {
      fits = fits && (entry.is_zero() || is_same(entry.own, factor * entry.right, factor * entry.tolerance));
    });
    if (fits) return tried;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Candidate> dropped_weights(const RowPlan& plan, const Puzzle& puzzle) {
  const Mistake* mistake = find_mistake("dropout");
  if (puzzle.step != StepId::weights || mistake == nullptr) return std::nullopt;
  const std::optional<double> p = dropout_share(puzzle);
  if (!p) return std::nullopt;
  Tensor factors(plan.plan.value(*plan.value(StepId::weights)).shape);
  factors.fill(1);
  const double kept = 1 / (1 - *p);
  each_wrong_entry(puzzle, [&](const Entry& at, const DroppedOrNot& entry) {
    factors.at(at) = std::abs(entry.own) < std::abs(entry.own - kept * entry.right) ? 0 : kept;
  });
  PlanEditor edit(plan.plan);
  edit.append({Op::multiply, StepId::weights, {edit.constant("0, 1/(1 − p)", std::move(factors))}});
  std::optional<Plan> edited = std::move(edit).finish();
  if (!edited) return std::nullopt;
  RowPlan changed(std::move(*edited));
  const Rows rows = changed_rows(changed, plan);
  return Candidate{mistake, fmt::format("p = {:.3g}", *p), std::move(changed), rows, StepId::weights};
}

}  // namespace mha::study
