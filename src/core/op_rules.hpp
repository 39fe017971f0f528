// What each op does with its operands, asked of a step: which of their entries an entry of its result is computed from, and
// the shape of that result.
#pragma once

#include <algorithm>
#include <optional>

#include "core/plan.hpp"

namespace mha {

// An entry of a value, at its own batch item and head.
struct Entry {
  Index item = 0, head = 0, row = 0, column = 0;
  bool operator==(const Entry&) const = default;
};

struct Read {
  std::size_t operand;  // its place in step.in
  Entry at;             // in that operand, as it is stored
};

// Entries that are multiplied with each other.
struct Term {
  std::array<Read, 2> factors;
  std::size_t count = 1;

  explicit Term(const Read& one) : factors{one, one} {}
  Term(const Read& a, const Read& b) : factors{a, b}, count(2) {}
  const Read* begin() const { return factors.data(); }
  const Read* end() const { return factors.data() + count; }
};

// The pair of columns to which a column belongs that is turned, and whether it is the first of the two.
struct InPair {
  Index pair;
  bool first;
};
constexpr std::optional<InPair> pair_of(Pairing pairing, Index column, Index pairs) {
  if (column >= 2 * pairs) return std::nullopt;
  if (pairing == Pairing::interleaved) return InPair{column / 2, column % 2 == 0};
  return InPair{column % pairs, column < pairs};
}

// Calls visit(term) for each of the terms from which this entry of the result is computed, in the order in which they are
// summed up. Of an op that does not sum there is one term, or of a rotation two.
template <typename Visit>
void for_each_term(const Plan& plan, const Step& step, const Entry& of, Visit visit) {
  const Shape& to = plan.value(step.out).shape;
  const auto shape = [&](std::size_t operand) -> const Shape& { return plan.value(step.in[operand]).shape; };
  // Where the operand is broadcast onto the result; one row or column serves all.
  const auto read = [&](std::size_t operand, Index row, Index column) {
    const Shape& from = shape(operand);
    return Read{operand,
                {broadcast(of.item, from.batch, to.batch), broadcast(of.head, from.heads, to.heads),
                 from.rows == 1 ? 0 : row, from.cols == 1 ? 0 : column}};
  };
  const auto in_head = [&](Index head, Index row, Index column) { return Term({0, {of.item, head, row, column}}); };
  const auto same_place = [&](std::size_t operand) { return read(operand, of.row, of.column); };
  const Shape& from = shape(0);
  switch (step.op) {
    case Op::product:  // Σ a[row,k]·b[k,column], and the biases
      for (Index k = 0, inner = step.first_transposed ? from.rows : from.cols; k < inner; ++k)
        visit(Term(step.first_transposed ? read(0, k, of.row) : read(0, of.row, k),
                   step.transposed ? read(1, of.column, k) : read(1, k, of.column)));
      for (std::size_t i = 2; i < step.in.size(); ++i) visit(Term(same_place(i)));
      return;
    case Op::split: return visit(in_head(0, of.row, column_of(step.arrangement, of.head, to.heads, of.column, to.cols)));
    case Op::merge: {
      const HeadColumn own = head_column_of(step.arrangement, of.column, from.heads, from.cols);
      return visit(in_head(own.head, of.row, own.column));
    }
    case Op::rotate: {  // first·cos − second·sin, or second·cos + first·sin: as (first, …), (second, …)
      const Index pairs = shape(1).cols;
      const std::optional<InPair> in = pair_of(step.pairing, of.column, pairs);
      if (!in) return visit(Term(same_place(0)));
      const Columns columns = columns_of_pair(step.pairing, in->pair, pairs);
      visit(Term(read(0, of.row, columns.first), read(in->first ? 1 : 2, of.row, in->pair)));
      return visit(Term(read(0, of.row, columns.second), read(in->first ? 2 : 1, of.row, in->pair)));
    }
    case Op::multiply: return visit(Term(same_place(0), same_place(1)));
    case Op::add:
      for (std::size_t i = 0; i < step.in.size(); ++i) visit(Term(same_place(i)));
      return;
    case Op::softmax:
      switch (step.softmax.over) {
        case Softmax::Over::row:
          for (Index j = 0; j < from.cols; ++j) visit(Term(read(0, of.row, j)));
          return;
        case Softmax::Over::column:
          for (Index i = 0; i < from.rows; ++i) visit(Term(read(0, i, of.column)));
          return;
        case Softmax::Over::heads:
          for (Index head = 0; head < from.heads; ++head) visit(in_head(head, of.row, of.column));
          return;
        case Softmax::Over::matrix:
          for (Index i = 0; i < from.rows; ++i)
            for (Index j = 0; j < from.cols; ++j) visit(Term(read(0, i, j)));
          return;
        case Softmax::Over::items:
          for (Index item = 0; item < from.batch; ++item) visit(Term({0, {item, of.head, of.row, of.column}}));
          return;
      }
      return;
    case Op::reshape: {  // the numbers of an item stay in their order, or those of all items, the heads outermost
      const Index size = from.rows * from.cols, item = step.heads_first ? of.item : 0;
      const Index i = ((item * to.heads + of.head) * to.rows + of.row) * to.cols + of.column;
      if (!step.heads_first) return visit(in_head(i / size, i % size / from.cols, i % from.cols));
      const Index matrix = i / size;
      return visit(Term({0, {matrix % from.batch, matrix / from.batch, i % size / from.cols, i % from.cols}}));
    }
    case Op::pool:
      for (Index head = 0; head < from.heads; ++head) visit(in_head(head, of.row, of.column));
      return;
    case Op::softcap:
    case Op::copy:
    case Op::relu: return visit(Term(same_place(0)));
  }
}

namespace shapes {

// One count serves the other: equal, or broadcast by the group rule.
inline bool goes_into(Index small, Index large) {
  return small > 0 && large % small == 0;
}

inline bool goes_onto(const Shape& b, const Shape& a) {
  return goes_into(b.batch, a.batch) && goes_into(b.heads, a.heads) && (b.rows == 1 || b.rows == a.rows) &&
         (b.cols == 1 || b.cols == a.cols);
}

inline std::optional<Shape> product_shape(const Step& step, Shape a, Shape b) {
  if (step.first_transposed) std::swap(a.rows, a.cols);
  if (step.transposed) std::swap(b.rows, b.cols);
  const Shape result{std::max(a.batch, b.batch), std::max(a.heads, b.heads), a.rows, b.cols};
  const bool fits = a.cols == b.rows && goes_into(a.batch, result.batch) && goes_into(b.batch, result.batch) &&
                    goes_into(a.heads, result.heads) && goes_into(b.heads, result.heads);
  return fits ? std::optional(result) : std::nullopt;
}

}  // namespace shapes

// The shape of the step's result, or nothing where its operands do not fit. `wanted` says into how many heads a split or a
// copy goes and what a reshape makes; every other shape follows from the operands.
inline std::optional<Shape> result_shape(const Plan& plan, const Step& step, const Shape& wanted) {
  const auto shape = [&](std::size_t i) -> const Shape& { return plan.value(step.in[i]).shape; };
  const auto with_terms = [&](std::optional<Shape> result, std::size_t first) {
    for (std::size_t i = first; result && i < step.in.size(); ++i)
      if (!shapes::goes_onto(shape(i), *result)) result.reset();
    return result;
  };
  const Shape& a = shape(0);
  switch (step.op) {
    case Op::product: return with_terms(shapes::product_shape(step, a, shape(1)), 2);
    case Op::split:
      if (a.heads != 1 || !shapes::goes_into(wanted.heads, a.cols)) return std::nullopt;
      return Shape{a.batch, wanted.heads, a.rows, a.cols / wanted.heads};
    case Op::rotate:
      if (shape(1).rows != a.rows || 2 * shape(1).cols > a.cols) return std::nullopt;
      return a;
    case Op::multiply:
    case Op::add: return with_terms(a, 1);
    case Op::merge: return Shape{a.batch, 1, a.rows, a.heads * a.cols};
    case Op::copy:
      if (!shapes::goes_into(a.heads, wanted.heads)) return std::nullopt;
      return Shape{a.batch, wanted.heads, a.rows, a.cols};
    case Op::reshape:  // of each matrix on its own, or of all heads together
      if (a.rows * a.cols == wanted.rows * wanted.cols) return Shape{a.batch, a.heads, wanted.rows, wanted.cols};
      if (a.batch != wanted.batch || a.size() != wanted.size()) return std::nullopt;
      return wanted;
    case Op::pool: return Shape{a.batch, 1, a.rows, a.cols};
    case Op::softcap:
    case Op::softmax:
    case Op::relu: return a;
  }
  return std::nullopt;
}

// Whether row i of the step's result needs row i of its first operand only.
inline bool is_row_wise(const Step& step) {
  return info_of(step.op).row_wise && !step.first_transposed && step.softmax.over == Softmax::Over::row;
}

// Whether each row of the weights sums to 1, but for one without a key, which a softmax leaves at 0/0.
inline bool weights_sum_to_one(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.id == StepId::weights && info_of(step.op).shares == Shares::of_one;
  });
}

// Whether no field is set that its op makes no use of: setting it would change nothing.
inline bool uses_all_that_is_set(const Step& step) {
  const Step plain{step.op, step.id, {}};
  unsigned set = 0;
  if (step.transposed || step.first_transposed) set |= uses_transposed;
  if (step.cap != plain.cap) set |= uses_cap;
  if (step.pairing != plain.pairing) set |= uses_pairing;
  if (step.arrangement != plain.arrangement) set |= uses_arrangement;
  if (step.pooling != plain.pooling) set |= uses_pooling;
  if (step.heads_first) set |= uses_heads_first;
  if (!(step.softmax == plain.softmax)) set |= uses_softmax;
  return (set & ~info_of(step.op).fields) == 0;
}

// Whether two steps compute the same from operands of the same shapes.
inline bool computes_alike(const Step& a, const Step& b) {
  return a.op == b.op && a.transposed == b.transposed && a.first_transposed == b.first_transposed && a.cap == b.cap &&
         a.pairing == b.pairing && a.arrangement == b.arrangement && a.pooling == b.pooling &&
         a.heads_first == b.heads_first && a.softmax == b.softmax && a.in.size() == b.in.size();
}

}  // namespace mha
