// Spells entries of one step out: which entry, and the operations that take a line.
#include "show/pages/spelling.hpp"

#include <cmath>

#include "show/pages/mask_reason.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {

std::optional<Spelling> Spelling::of(const Scene& scene, const Step& step, Place place) {
  std::vector<View> operands;
  for (const ValueId id : step.in) {
    std::optional<View> operand = View::of(scene, id, place);
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
    case Op::merge: return {0, value_of(0).shape.heads > 1 ? value_of(0).shape.cols : 0};  // of the second head
    case Op::product:
    case Op::split:
    case Op::multiply:
    case Op::softcap:
    case Op::copy:
    case Op::relu:
    case Op::reshape:
    case Op::pool: return {};
  }
  return {};
}

Work Spelling::spell(EntryAt at) const {
  RightSide right = right_side(at, As::numbers, false);
  right.lines.push_back({"=", result_.text(at.row, at.column), std::move(right.remark)});
  return {entry(scene_, step_.out, place_, at), std::move(right.lines)};
}

Work Spelling::spell_in_full(EntryAt at) const {
  std::vector<Work::Line> lines = right_side(at, As::names, true).lines;
  RightSide numbers = right_side(at, As::numbers, true);
  lines.insert(lines.end(), std::make_move_iterator(numbers.lines.begin()), std::make_move_iterator(numbers.lines.end()));
  lines.push_back({"=", result_.text(at.row, at.column), std::move(numbers.remark)});
  return {entry(scene_, step_.out, place_, at), std::move(lines)};
}

Spelling::RightSide Spelling::right_side(EntryAt at, As as, bool in_full) const {
  switch (step_.op) {
    case Op::product: return heads_beside_each_other() ? product_by_head(at, as) : product(at, as);
    case Op::rotate: return rotation(at, as, in_full);
    case Op::multiply: return equal_to(word(source(at), as) + " × " + word(in_operand(1, at), as));
    case Op::softcap: return softcap(at, as);
    case Op::add: return sum_with_masks(at, as);
    case Op::softmax: return softmax(at, as, in_full);
    case Op::relu: return equal_to("max(" + word(source(at), as) + ", 0)");
    case Op::pool: return pool(at, as);
    case Op::split:
    case Op::merge:
    case Op::reshape:
    case Op::copy: return taken_over(source(at), as, in_full);
  }
  return {};
}

// An entry that stays as it is has a name and no formula into which its number could be put.
Spelling::RightSide Spelling::taken_over(const ReadEntry& read, As as, bool in_full, Words remark) const {
  if (in_full && as == As::numbers) return {{}, std::move(remark)};
  return equal_to(word(read, As::names), std::move(remark));
}

double Spelling::number(const ReadEntry& read) const {
  return number_at(scene_, step_.in[read.operand], read.place, read.at);
}

std::string Spelling::word(const ReadEntry& read, As as) const {
  if (as == As::names) return entry(scene_, step_.in[read.operand], read.place, read.at);
  return operands_[read.operand].style().term(number(read));
}

ReadEntry Spelling::in_operand(std::size_t operand, EntryAt at) const {
  const Shape& shape = value_of(operand).shape;
  return {operand, place_, {shape.rows == 1 ? 0 : at.row, shape.cols == 1 ? 0 : at.column}};
}

ReadEntry Spelling::source(EntryAt at) const {
  const Shape &from = value_of(0).shape, &to = scene_.plan.value(step_.out).shape;
  const Index own = own_head(scene_, step_.out, place_.head);
  if (step_.op == Op::split) return {0, place_, {at.row, column_of(step_.arrangement, own, to.heads, at.column, to.cols)}};
  if (step_.op == Op::merge) {
    const HeadColumn in_head = head_column_of(step_.arrangement, at.column, from.heads, from.cols);
    return {0, place_of_head(scene_, step_.in[0], place_.item, in_head.head), {at.row, in_head.column}};
  }
  if (step_.op == Op::reshape) {  // the numbers of an item stay in their order
    const Index i = (own * to.rows + at.row) * to.cols + at.column, size = from.rows * from.cols;
    const Place place = place_of_head(scene_, step_.in[0], place_.item, i / size);
    return {0, place, {i % size / from.cols, i % from.cols}};
  }
  return same_place(0, at);
}

Spelling::RightSide Spelling::softcap(EntryAt at, As as) const {
  const std::string cap = given().text(step_.cap);
  const auto capped = [&](const std::string& z) { return fmt::format("{0}·tanh({1}/{0})", cap, z); };
  if (as == As::names) return equal_to(capped(word(source(at), as)));
  const double squeezed = std::tanh(number(source(at)) / step_.cap);
  return {{{"=", capped(text(source(at))), {}}, {"=", cap + "·" + computed().term(squeezed), {}}}};
}

Spelling::RightSide Spelling::sum_with_masks(EntryAt at, As as) const {
  const Index terms = summand_count();
  return equal_to(summands_text(at, 0, terms, terms, as), mask_reason(scene_, step_, place_, at.row, at.column));
}

Spelling::RightSide Spelling::pool(EntryAt at, As as) const {
  constexpr Index most_heads = 8;
  const Index heads = summand_count();
  switch (step_.pooling) {
    case Pooling::mean: return equal_to(fmt::format("({}) / {}", summands_text(at, 0, heads, most_heads, as), heads));
    case Pooling::sum: return equal_to(summands_text(at, 0, heads, most_heads, as));
    case Pooling::maximum: break;
  }
  return equal_to("max(" +
                  series_text(
                      heads, most_heads, [&](Index i) { return summand_text(at, i, as); }, ", ") +
                  ")");
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

}  // namespace mha::show
