// What each op does with its operands, asked of a step: which of their entries an entry of its result is computed from, and
// the shape of that result; and how steep an activation is.
#pragma once

#include "core/op.hpp"
#include "core/plan.hpp"

namespace mha {

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
    case Op::rotate: {  // first·cos ∓ second·sin, or second·cos ± first·sin: as (first, …), (second, …)
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
    case Op::norm:  // all of its row, or column, and then γ and β
      for (Index k = 0, count = step.norm.by_column ? from.rows : from.cols; k < count; ++k)
        visit(Term(step.norm.by_column ? read(0, k, of.column) : read(0, of.row, k)));
      for (std::size_t i = 1; i < step.in.size(); ++i) visit(Term(same_place(i)));
      return;
    case Op::difference:
    case Op::slope:
      for (std::size_t i = 0; i < step.in.size(); ++i) visit(Term(same_place(i)));
      return;
    case Op::norm_slope:  // all of its row, and γ
      for (std::size_t i = 0; i < step.in.size(); ++i)
        for (Index k = 0; k < from.cols; ++k) visit(Term(read(i, of.row, k)));
      return;
    case Op::sum: {
      const auto each = [](Index i, Index large, Index small, auto take) {
        for (Index j = i * (large / small); j < (i + 1) * (large / small); ++j) take(j);
      };
      each(of.item, from.batch, to.batch, [&](Index item) {
        each(of.head, from.heads, to.heads, [&](Index head) {
          each(of.row, from.rows, to.rows, [&](Index row) {
            each(of.column, from.cols, to.cols, [&](Index column) {
              const Entry at{item, head, row, column};
              visit(step.in.size() > 1 ? Term({0, at}, {1, at}) : Term({0, at}));
            });
          });
        });
      });
      return;
    }
    case Op::activation: return visit(step.in.size() > 1 ? Term(same_place(0), same_place(1)) : Term(same_place(0)));
    case Op::softcap:
    case Op::copy: return visit(Term(same_place(0)));
  }
}

// The shape of the step's result, or nothing where its operands do not fit. `wanted` says into how many heads a split or a
// copy goes, what a reshape makes and a sum leaves; every other shape follows from the operands.
std::optional<Shape> result_shape(const Plan& plan, const Step& step, const Shape& wanted);

// Whether row i of the step's result needs row i of this operand only (or the one row that serves all).
bool is_row_wise(const Plan& plan, const Step& step, std::size_t operand = 0);

// Whether each matrix of the result is a sum over the rows that both operands have, of this head and item: aᵀ·b.
bool sums_over_rows(const Plan& plan, const Step& step);

// Whether each row of the weights sums to 1, but for one without a key, which a softmax leaves at 0/0.
bool weights_sum_to_one(const Plan& plan);

// Whether no field is set that its op makes no use of: setting it would change nothing.
bool uses_all_that_is_set(const Step& step);

// Whether two steps compute the same from operands of the same shapes.
bool computes_alike(const Step& a, const Step& b);

// f′(x); relu's at 0 is 0.
template <typename T>
T steepness(Activation activation, T x) {
  switch (activation) {
    case Activation::none: return 1;
    case Activation::relu: return x > 0 ? T(1) : T(0);
    case Activation::gelu:  // Φ(x) + x·φ(x)
      return T(0.5) * std::erfc(-x * T(0.70710678118654752440)) + x * T(0.39894228040143267794) * std::exp(T(-0.5) * x * x);
    case Activation::gelu_tanh: {
      const T u = std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x));
      const T inner = T(0.79788456080286535588) * (1 + T(0.134145) * x * x);
      return T(0.5) * (1 + u) + T(0.5) * x * (1 - u * u) * inner;
    }
    case Activation::silu: {
      const T s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
  }
  return 1;
}

}  // namespace mha
