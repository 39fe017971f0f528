// Shapes that follow from a step and its operands, and which settings of a step its op makes use of.
#include "core/op_rules.hpp"

namespace mha {
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

}  // namespace

std::optional<Shape> result_shape(const Plan& plan, const Step& step, const Shape& wanted) {
  const auto shape = [&](std::size_t i) -> const Shape& { return plan.value(step.in[i]).shape; };
  const auto with_terms = [&](std::optional<Shape> result, std::size_t first) {
    for (std::size_t i = first; result && i < step.in.size(); ++i)
      if (!goes_onto(shape(i), *result)) result.reset();
    return result;
  };
  const Shape& a = shape(0);
  switch (step.op) {
    case Op::product: return with_terms(product_shape(step, a, shape(1)), 2);
    case Op::split:
      if (a.heads != 1 || !goes_into(wanted.heads, a.cols)) return std::nullopt;
      return Shape{a.batch, wanted.heads, a.rows, a.cols / wanted.heads};
    case Op::rotate:
      if (shape(1).rows != a.rows || 2 * shape(1).cols > a.cols) return std::nullopt;
      return a;
    case Op::multiply:
    case Op::add:
    case Op::norm:
    case Op::activation:
    case Op::difference:
    case Op::slope:
    case Op::norm_slope: return with_terms(a, 1);
    case Op::sum: return goes_onto(wanted, a) ? with_terms(wanted, step.in.size()) : std::nullopt;
    case Op::merge: return Shape{a.batch, 1, a.rows, a.heads * a.cols};
    case Op::copy:
      if (!goes_into(a.heads, wanted.heads)) return std::nullopt;
      return Shape{a.batch, wanted.heads, a.rows, a.cols};
    case Op::reshape:  // of each matrix on its own, or of all heads together
      if (a.rows * a.cols == wanted.rows * wanted.cols) return Shape{a.batch, a.heads, wanted.rows, wanted.cols};
      if (a.batch != wanted.batch || a.size() != wanted.size()) return std::nullopt;
      return wanted;
    case Op::pool: return Shape{a.batch, 1, a.rows, a.cols};
    case Op::softcap:
    case Op::softmax: return a;
  }
  return std::nullopt;
}

bool is_row_wise(const Plan& plan, const Step& step, std::size_t operand) {
  const Shape &from = plan.value(step.in.front()).shape, &to = plan.value(step.out).shape;
  if (step.op == Op::sum) return from.batch == to.batch && from.heads == to.heads && from.rows == to.rows;
  if (step.op == Op::product && (operand == 1 || step.first_transposed)) return false;
  return info_of(step.op).row_wise && step.softmax.over == Softmax::Over::row && !step.norm.by_column;
}

bool sums_over_rows(const Plan& plan, const Step& step) {
  if (step.op != Op::product || !step.first_transposed || step.transposed || step.in.size() > 2) return false;
  const Shape &a = plan.value(step.in[0]).shape, &b = plan.value(step.in[1]).shape, &to = plan.value(step.out).shape;
  return a.batch == to.batch && b.batch == to.batch && a.heads == to.heads && b.heads == to.heads;
}

bool weights_sum_to_one(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.id == StepId::weights && info_of(step.op).shares == Shares::of_one;
  });
}

bool uses_all_that_is_set(const Step& step) {
  const Step plain{step.op, step.id, {}};
  unsigned set = 0;
  if (step.transposed || step.first_transposed) set |= uses_transposed;
  if (step.cap != plain.cap) set |= uses_cap;
  if (step.pairing != plain.pairing) set |= uses_pairing;
  if (step.arrangement != plain.arrangement) set |= uses_arrangement;
  if (step.pooling != plain.pooling) set |= uses_pooling;
  if (step.heads_first) set |= uses_heads_first;
  if (!(step.softmax == plain.softmax)) set |= uses_softmax;
  if (!(step.norm == plain.norm)) set |= uses_norm;
  if (step.activation != plain.activation) set |= uses_activation;
  return (set & ~info_of(step.op).fields) == 0;
}

bool computes_alike(const Step& a, const Step& b) {
  return a.op == b.op && a.transposed == b.transposed && a.first_transposed == b.first_transposed && a.cap == b.cap &&
         a.pairing == b.pairing && a.arrangement == b.arrangement && a.pooling == b.pooling &&
         a.heads_first == b.heads_first && a.softmax == b.softmax && a.norm == b.norm && a.activation == b.activation &&
         a.in.size() == b.in.size();
}

}  // namespace mha
