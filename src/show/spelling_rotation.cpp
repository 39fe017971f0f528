// Spells rotary positions out: a pair of columns turned by an angle.
#include <cmath>

#include "show/spelling.hpp"

namespace mha {

Index Spelling::position(Index row) const {
  const Rope& rope = *scene_.problem.rope;
  return step_.id == StepId::K_rot ? rope.key_position(row, scene_.problem.X_kv.has_value()) : rope.query_position(row);
}

// At position 0 nothing turns.
EntryAt Spelling::first_turned() const {
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    if (const Index row = result_.shown_rows().place(r); position(row) != 0) return {row, 0};
  return {};
}

// (a, b) → (a·cos − b·sin, a·sin + b·cos)
Spelling::RightSide Spelling::rotation(EntryAt at) const {
  const Rope& rope = *scene_.problem.rope;
  if (at.column >= rope.dims) return equal_to(entry_of(0, place_, at), say_it(phrase::not_rotated));
  const bool interleaved = step_.pairing == Pairing::interleaved;
  const Index half = rope.dims / 2;
  const Index pair = interleaved ? at.column / 2 : at.column % half;
  const bool is_first = interleaved ? at.column % 2 == 0 : at.column < half;
  const Index a = interleaved ? 2 * pair : pair, b = interleaved ? a + 1 : a + half;

  const std::string left = operands_[0].term(at.row, a), right = operands_[0].term(at.row, b);
  const auto turned = [&](const std::string& cosine, const std::string& sine) {
    return is_first ? left + "·" + cosine + " − " + right + "·" + sine : left + "·" + sine + " + " + right + "·" + cosine;
  };
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims);
  const Index place = position(at.row);
  const std::string angle = computed().fixed(static_cast<double>(place) * std::pow(rope.base, exponent));
  Words remark = say_it(phrase::angle, place, given().text(rope.base), 2 * pair, rope.dims, angle);
  return {{{"=", turned("cos(" + angle + ")", "sin(" + angle + ")"), {}},
           {"=", turned(operands_[1].term(at.row, pair), operands_[2].term(at.row, pair)), {}}},
          std::move(remark)};
}

}  // namespace mha
