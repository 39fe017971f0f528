// Spells entries of one step out: which entry, and the operations that take a line.
#include "show/spelling.hpp"

#include <cmath>

#include "show/mask_reason.hpp"
#include "show/notation.hpp"

namespace mha {

std::optional<Spelling> Spelling::of(const Scene& scene, const Step& step, Place place) {
  std::vector<View> operands;
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const bool transposed = i == 1 && step.transposed;
    const std::optional<View> operand = View::of(scene, step.in[i], place, transposed);
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  const std::optional<View> result = View::of(scene, step.out, place);
  if (!result) return std::nullopt;
  return Spelling(scene, step, place, std::move(operands), *result);
}

EntryAt Spelling::telling_entry() const {
  switch (step_.op) {
    case Op::add: return most_telling_mask();
    case Op::softmax: return most_telling_weight();
    case Op::rotate: return first_turned();
    case Op::merge: return {0, scene_.problem.heads > 1 ? scene_.problem.d_v() : 0};  // the first entry of the second head
    case Op::product:
    case Op::split:
    case Op::multiply:
    case Op::softcap:
    case Op::copy: return {};
  }
  return {};
}

Work Spelling::spell(EntryAt at) const {
  RightSide right = right_side(at);
  right.lines.push_back({"=", result_.text(at.row, at.column), std::move(right.remark)});
  return {entry(scene_, step_.out, place_, at.row, at.column), std::move(right.lines)};
}

Spelling::RightSide Spelling::right_side(EntryAt at) const {
  switch (step_.op) {
    case Op::product: return step_.id == StepId::output ? output_by_head(at) : product(at);
    case Op::split: return split(at);
    case Op::rotate: return rotation(at);
    case Op::multiply: return scaling(at);
    case Op::softcap: return softcap(at);
    case Op::add: return sum_with_masks(at);
    case Op::softmax: return softmax(at);
    case Op::merge: return merge(at);
    case Op::copy: return equal_to(entry_of(0, place_, at));
  }
  return {};
}

std::string Spelling::entry_of(std::size_t operand, Place place, EntryAt at) const {
  return entry(scene_, step_.in[operand], place, at.row, at.column);
}

Spelling::RightSide Spelling::split(EntryAt at) const {
  const Shape& shape = scene_.plan.value(step_.out).shape;
  const Index own = broadcast(place_.head, shape.heads, scene_.problem.heads);
  return equal_to(entry_of(0, place_, {at.row, own * shape.cols + at.column}));
}

Spelling::RightSide Spelling::merge(EntryAt at) const {
  const Index width = scene_.problem.d_v();
  return equal_to(entry_of(0, {place_.item, at.column / width}, {at.row, at.column % width}));
}

Spelling::RightSide Spelling::scaling(EntryAt at) const {
  return equal_to(operands_[0].term(at.row, at.column) + " × " + operands_[1].term(0, 0));
}

Spelling::RightSide Spelling::softcap(EntryAt at) const {
  const std::string cap = given().text(step_.cap);
  const double squeezed = std::tanh(operands_[0].at(at.row, at.column) / step_.cap);
  return {{{"=", fmt::format("{0}·tanh({1}/{0})", cap, operands_[0].text(at.row, at.column)), {}},
           {"=", cap + "·" + computed().term(squeezed), {}}}};
}

Spelling::RightSide Spelling::sum_with_masks(EntryAt at) const {
  std::string sum = operands_[0].term(at.row, at.column);
  for (std::size_t i = 1; i < operands_.size(); ++i)
    sum += " + " + operands_[i].term(operands_[i].rows() == 1 ? 0 : at.row, at.column);
  return equal_to(std::move(sum), mask_reason(scene_, step_, place_, at.row, at.column));
}

// The first entry that is hidden; else the first to which a mask adds something.
EntryAt Spelling::most_telling_mask() const {
  std::optional<EntryAt> changed;
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    for (Index c = 0; c < result_.shown_columns().count(); ++c) {
      const EntryAt at{result_.shown_rows().place(r), result_.shown_columns().place(c)};
      if (result_.at(at.row, at.column) == minus_infinity) return at;
      if (!changed && result_.at(at.row, at.column) != operands_[0].at(at.row, at.column)) changed = at;
    }
  return changed.value_or(EntryAt{});
}

// The largest weight that is shown in the first row with something to weigh.
EntryAt Spelling::most_telling_weight() const {
  const View& scores = operands_[0];
  for (Index r = 0; r < scores.shown_rows().count(); ++r) {
    const Index row = scores.shown_rows().place(r);
    Index seen = 0;
    for (Index j = 0; j < scores.columns() && seen < 2; ++j)
      if (scores.at(row, j) != minus_infinity) ++seen;
    if (seen == 2) return {row, largest_column(row)};
  }
  return {};
}

Index Spelling::largest_column(Index row) const {
  Index largest = 0;
  for (Index c = 0; c < result_.shown_columns().count(); ++c) {
    const Index column = result_.shown_columns().place(c);
    if (result_.at(row, column) > result_.at(row, largest)) largest = column;
  }
  return largest;
}

}  // namespace mha
