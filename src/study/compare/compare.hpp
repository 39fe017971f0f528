// Two computations held side by side, step by step: two problems, or a problem and the same with a mistake made.
#pragma once

#include "io/files/sink.hpp"
#include "show/pages/page_parts.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

enum class MatrixVerdict { equal, different, other_shape, left_only, right_only };

// One matrix of a step on both sides.
struct ComparedMatrix : LayerStep {
  Index item = 0, head = 0;  // from 0; what belongs to all heads is found under head 0
  MatrixVerdict verdict = MatrixVerdict::equal;
  double largest = 0;  // |left − right|, for MatrixVerdict::different; infinite where one of them is NaN or infinite alone
  Index row = 0, column = 0;  // where it is largest

  bool is_chosen(const Selection& selection) const {
    return selection.has(step, layer.value_or(0)) && (!name_of(step).per_head || selection.has_head(head));
  }
};

struct Comparison {
  std::vector<ComparedMatrix> matrices;  // in the order of the computation: all heads of a step before the next step
  std::optional<std::size_t> first;      // the first that is on both sides and not equal
};

// The difference of two numbers: 0 where they are the same to nine digits, infinite where one is NaN or infinite alone.
double difference(double a, double b);

// Numbers are equal when they agree to nine digits: the order of a sum shows in the last ones.
// Those of each layer.
Comparison compare(const std::vector<Written>& left, const std::vector<Written>& right);

// What leads to Y, which stands last: a matrix for each head, that add up or follow one another.
struct HeadRow {
  std::string_view key;
  Text caption, name;
  std::string sign, last_sign;
  std::vector<std::shared_ptr<const Tensor>> matrices;
};

// One side of a comparison.
struct Side {
  show::Words name;
  Layered computed;  // the problems' labels are shown
  std::vector<HeadRow> rows = {};

  const Tensor& tensor(const ComparedMatrix& matrix) const {
    return *computed.numbers[static_cast<std::size_t>(matrix.layer.value_or(0))][static_cast<std::size_t>(matrix.step)];
  }
};

// A way to arrange a layer's heads otherwise; {0} in `name` is the problem's. In the remark: how many numbers have other
// bits, of how many.
struct HeadChange {
  const char* option;
  std::string_view id;
  Text help, name, remark;
  Side (*make)(const Problem& problem);  // throws Error where the problem cannot be changed so
};
extern const std::array<HeadChange, 3> head_changes;

// One head (from 0) of a layer by itself, with its rows of W_O; without b_O and what follows.
Problem one_head(const Problem& layer, Index head);

// Of the numbers of the steps that both have: those that are not the same to the last bit, and all.
std::pair<Index, Index> bits_apart(const std::vector<Written>& left, const std::vector<Written>& right);

// `remarks` say what was done differently on the right, where that is known. Of the options, language, precision, index
// base, the selection of steps and heads, and `full` count.
show::Document describe(const Comparison& comparison, const Side& left, const Side& right,
                        const std::vector<show::Words>& remarks, const show::PageOptions& options);

// What was done differently on the right: "mistake" and its id, or "change" and its id.
using MadeOf = std::optional<std::pair<std::string_view, std::string_view>>;

// {"format": "mha-compare", "version": 1, "left", "right", "mistake" or "change"?, "shares"?, "inputs"?, "steps": […]}: the
// matrices that lead to the right side, item by item in a batch; for each matrix its layer, step,
// head and item (from 1), "equal"; where it is not, the largest difference with its place, and both matrices whole; where
// only one side has it, that one alone. Flushing the sink is left to the caller.
void write_comparison_json(io::Sink& sink, const Comparison& comparison, const Side& left, const Side& right,
                           const MadeOf& made, const Selection& selection);

}  // namespace mha::study
