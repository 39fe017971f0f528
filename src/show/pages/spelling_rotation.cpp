// Spells rotary positions out: a pair of columns turned by an angle.

#include "show/pages/spelling.hpp"

namespace mha::show {
// At position 0 nothing turns.
EntryAt Spelling::first_turned() const {
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    if (const Index row = result_.shown_rows().place(r); position_of_row(scene_, step_, row) != 0) return {row, 0};
  return {};
}

// (a, b) → (a·cos − b·sin, a·sin + b·cos)
Spelling::RightSide Spelling::rotation(const Terms& terms, Index row, As as, bool in_full) const {
  if (terms.size() == 1) return taken_over(terms[0][0], as, in_full, say_it(phrase::not_rotated));
  const bool is_first = terms[0][1].operand == 1;  // the cosine goes with the first column
  const ReadEntry &cosine = terms[is_first ? 0 : 1][1], &sine = terms[is_first ? 1 : 0][1];
  const std::string left = word(terms[0][0], as), right = word(terms[1][0], as);
  const auto turned = [&](const std::string& cos, const std::string& sin) {
    const char *minus = step_.transposed ? " + " : " − ", *plus = step_.transposed ? " − " : " + ";  // back by −angle
    if (is_first) return left + "·" + cos + minus + right + "·" + sin;
    return step_.transposed ? right + "·" + cos + plus + left + "·" + sin : left + "·" + sin + plus + right + "·" + cos;
  };
  if (as == As::names) return equal_to(turned(value_of(1).symbol + " θ", value_of(2).symbol + " θ"));

  const Rope& rope = *scene_.problem.rope;
  const Index pair = cosine.at.column;
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims);
  const Index place = position_of_row(scene_, step_, row);
  const double angle = static_cast<double>(place) * std::pow(rope.base, exponent);
  RightSide sides = equal_to(turned(word(cosine, as), word(sine, as)));
  // A changed plan may turn by another angle, of which nothing but the cosine and the sine is known.
  if (std::cos(angle) != number(cosine) || std::sin(angle) != number(sine)) return sides;
  const std::string theta = computed().fixed(angle);
  sides.lines.insert(sides.lines.begin(), {"=", turned("cos(" + theta + ")", "sin(" + theta + ")"), {}});
  const std::string power = pair == 0 ? "0" : fmt::format("-{}/{}", 2 * pair, rope.dims);
  sides.remark = say_it(phrase::angle, place, given().text(rope.base), power, theta);
  return sides;
}

}  // namespace mha::show
