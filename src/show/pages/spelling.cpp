// Spells entries of one step out: which entry, what it is made of, and the operations that take a line.
#include "show/pages/spelling.hpp"

#include "core/op_rules.hpp"
#include "show/pages/page_parts.hpp"
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
    case Op::difference: return largest_shown();
    case Op::slope:
    case Op::norm_slope:
    case Op::sum:
    case Op::product:
    case Op::split:
    case Op::multiply:
    case Op::softcap:
    case Op::copy:
    case Op::norm:
    case Op::activation:
    case Op::reshape:
    case Op::pool: return {};
  }
  return {};
}

Work Spelling::spell(EntryAt at) const {
  RightSide right = right_side(at, As::numbers, false);
  if (right.lines.size() == 1 && right.lines[0].expression == result_.text(at.row, at.column)) right.lines.clear();
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

Terms Spelling::terms(EntryAt at) const {
  const Shape& to = scene_.plan.value(step_.out).shape;
  const Entry own{broadcast(place_.item, to.batch, scene_.problem.batch()), own_head(scene_, step_.out, place_.head),
                  at.row, at.column};
  Terms terms;
  for_each_term(scene_.plan, step_, own, [&](const Term& term) {
    Factors& factors = terms.emplace_back();
    for (const Read& read : term) {
      const ValueId id = step_.in[read.operand];
      const bool same_head = own_head(scene_, id, place_.head) == read.at.head;
      factors.push_back({read.operand,
                         same_head ? place_ : place_of_head(scene_, id, place_.item, read.at.head),
                         {read.at.row, read.at.column}});
    }
  });
  return terms;
}

std::vector<ReadEntry> Spelling::entries_read(EntryAt at) const {
  std::vector<ReadEntry> all;
  for (const Factors& factors : terms(at)) all.insert(all.end(), factors.begin(), factors.end());
  return all;
}

std::vector<ReadEntry> Spelling::shown_entries_read(EntryAt at) const {
  std::vector<ReadEntry> all = entries_read(at);
  std::erase_if(all, [this](const ReadEntry& read) {
    const View& operand = operands_[read.operand];
    return value_of(read.operand).role == Value::Role::constant || !operand.shown_rows().has(read.at.row) ||
           !operand.shown_columns().has(read.at.column);
  });
  return all;
}

Spelling::RightSide Spelling::right_side(EntryAt at, As as, bool in_full) const {
  const Terms terms = this->terms(at);
  const auto count = static_cast<Index>(terms.size());
  const ReadEntry& first = terms.front().front();
  switch (step_.op) {
    case Op::product:
      if (const std::optional<Index> heads = heads_beside_each_other()) return product_by_head(terms, *heads, as);
      return product(terms, as);
    case Op::rotate: return rotation(terms, at.row, as, in_full);
    case Op::multiply:
      if (const std::optional<Scaling> scaling = scaling_of(scene_, step_))
        return equal_to(
            fmt::format("{} {} {}", word(first, as), scaling->sign, as == As::names ? scaling->name : scaling->number));
      return equal_to(word(first, as) + " × " + word(terms.front().back(), as));
    case Op::softcap: return softcap(first, as);
    case Op::add:
      return equal_to(sum_text(terms, 0, count, count, as), mask_reason(scene_, step_, place_, at.row, at.column));
    case Op::softmax: return softmax(terms, at, as);
    case Op::norm: return norm(terms, at, as);
    case Op::activation: return activation(terms.front(), as);
    case Op::difference: return difference(terms, as);
    case Op::slope: return slope(terms, as);
    case Op::norm_slope: return norm_slope(at, as);
    case Op::sum: return product(terms, as);
    case Op::pool: return pool(terms, as);
    case Op::split:
    case Op::merge:
    case Op::reshape:
    case Op::copy: return taken_over(first, as, in_full);
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

Spelling::RightSide Spelling::softcap(const ReadEntry& read, As as) const {
  const std::string cap = full_text(step_.cap);
  const auto capped = [&](const std::string& z) { return fmt::format("{0}·tanh({1}/{0})", cap, z); };
  if (as == As::names) return equal_to(capped(word(read, as)));
  const double squeezed = std::tanh(number(read) / step_.cap);
  return {{{"=", capped(text(read)), {}}, {"=", cap + "·" + computed().term(squeezed), {}}}};
}

Spelling::RightSide Spelling::pool(const Terms& heads, As as) const {
  constexpr Index most_pooled = 8;
  const auto count = static_cast<Index>(heads.size());
  switch (step_.pooling) {
    case Pooling::mean: return equal_to(fmt::format("({}) / {}", sum_text(heads, 0, count, most_pooled, as), count));
    case Pooling::sum: return equal_to(sum_text(heads, 0, count, most_pooled, as));
    case Pooling::maximum: break;
  }
  const auto head = [&](Index i) { return term_text(heads[static_cast<std::size_t>(i)], as); };
  return equal_to("max(" + series_text(count, most_pooled, head, ", ") + ")");
}

// Of the shown entries the one of the largest size, the first of several.
EntryAt Spelling::largest_shown() const {
  EntryAt largest;
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    for (Index c = 0; c < result_.shown_columns().count(); ++c) {
      const EntryAt at{result_.shown_rows().place(r), result_.shown_columns().place(c)};
      if (std::abs(result_.at(at.row, at.column)) > std::abs(result_.at(largest.row, largest.column))) largest = at;
    }
  return largest;
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
