// Spells rotary positions out: a pair of columns turned by an angle.
#include <fmt/format.h>

#include <cmath>

#include "show/pages/spelling.hpp"

namespace mha::show {
namespace {

// The pair to which a column belongs, and whether it is its first; nothing for a column that is not turned.
struct InPair {
  Index pair;
  bool first;
};
std::optional<InPair> pair_of(Pairing pairing, Index column, Index pairs) {
  if (column >= 2 * pairs) return std::nullopt;
  if (pairing == Pairing::interleaved) return InPair{column / 2, column % 2 == 0};
  return InPair{column % pairs, column < pairs};
}

}  // namespace

// At position 0 nothing turns.
EntryAt Spelling::first_turned() const {
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    if (const Index row = result_.shown_rows().place(r); position_of_row(scene_.problem, step_, row) != 0) return {row, 0};
  return {};
}

// The two columns, the cosine and the sine; a column that is not turned alone.
std::vector<ReadEntry> Spelling::turned_together(EntryAt at) const {
  const Index pairs = value_of(1).shape.cols;
  const std::optional<InPair> in = pair_of(step_.pairing, at.column, pairs);
  if (!in) return {same_place(0, at)};
  const Columns columns = columns_of_pair(step_.pairing, in->pair, pairs);
  return {same_place(0, {at.row, columns.first}), same_place(0, {at.row, columns.second}),
          same_place(1, {at.row, in->pair}), same_place(2, {at.row, in->pair})};
}

// (a, b) → (a·cos − b·sin, a·sin + b·cos)
Spelling::RightSide Spelling::rotation(EntryAt at, As as, bool in_full) const {
  const std::vector<ReadEntry> read = turned_together(at);
  if (read.size() == 1) return taken_over(read[0], as, in_full, say_it(phrase::not_rotated));
  const InPair in = *pair_of(step_.pairing, at.column, value_of(1).shape.cols);
  const std::string left = word(read[0], as), right = word(read[1], as);
  const auto turned = [&](const std::string& cosine, const std::string& sine) {
    return in.first ? left + "·" + cosine + " − " + right + "·" + sine : left + "·" + sine + " + " + right + "·" + cosine;
  };
  if (as == As::names) return equal_to(turned(value_of(1).symbol + " θ", value_of(2).symbol + " θ"));

  const Rope& rope = *scene_.problem.rope;
  const double exponent = -2.0 * static_cast<double>(in.pair) / static_cast<double>(rope.dims);
  const Index place = position_of_row(scene_.problem, step_, at.row);
  const double angle = static_cast<double>(place) * std::pow(rope.base, exponent);
  RightSide sides = equal_to(turned(word(read[2], as), word(read[3], as)));
  // A changed plan may turn by another angle, of which nothing but the cosine and the sine is known.
  if (std::cos(angle) != number(read[2]) || std::sin(angle) != number(read[3])) return sides;
  const std::string theta = computed().fixed(angle);
  sides.lines.insert(sides.lines.begin(), {"=", turned("cos(" + theta + ")", "sin(" + theta + ")"), {}});
  const std::string power = in.pair == 0 ? "0" : fmt::format("-{}/{}", 2 * in.pair, rope.dims);
  sides.remark = say_it(phrase::angle, place, given().text(rope.base), power, theta);
  return sides;
}

}  // namespace mha::show
