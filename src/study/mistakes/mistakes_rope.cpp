// Mistakes in the rotary positions: left out, turned otherwise, or turned where nothing turns.

#include "study/mistakes/forms.hpp"

namespace mha::study {
namespace {

constexpr std::array rotated_steps = {StepId::Q_rot, StepId::K_rot};

void rope_missing(Forms& forms) {
  if (!forms.problem.rope) return;
  PlanEditor& edit = forms.add();
  for (const StepId id : rotated_steps) edit.leave_out(id);
}

void rope_pairing(Forms& forms) {
  if (!forms.problem.rope) return;
  PlanEditor& edit = forms.add();
  for (const StepId id : rotated_steps) {
    Pairing& pairing = edit.step(id).pairing;
    pairing = pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  }
}

void rope_direction(Forms& forms) {
  if (!forms.problem.rope) return;
  PlanEditor& edit = forms.add();
  for (const StepId id : rotated_steps) {
    Tensor sines = *edit.operand(edit.step(id).in[2]).constant;
    for (Index i = 0; i < sines.size(); ++i) sines.data()[i] = -sines.data()[i];
    edit.step(id).in[2] = edit.constant("−sin", std::move(sines));
  }
}

// The angles of the same problem with another rope.
void with_angles_of(PlanEditor& edit, const Problem& other) {
  PlanEditor turned(make_plan(other));
  for (const StepId id : rotated_steps)
    for (const std::size_t i : {1, 2}) {
      const Value& angles = turned.operand(turned.step(id).in[i]);
      edit.step(id).in[i] = edit.constant(angles.symbol, *angles.constant);
    }
}

void rope_from_one(Forms& forms) {
  if (!forms.problem.rope) return;
  Problem later = forms.problem;
  ++later.rope->start;
  for (auto* positions : {&later.rope->positions, &later.rope->positions_kv})
    if (*positions)
      for (Index& position : **positions) ++position;
  with_angles_of(forms.add(), later);
}

void not_turned(Forms& forms, StepId id) {
  if (forms.problem.rope) forms.add().leave_out(id);
}

void rope_base(Forms& forms) {
  if (!forms.problem.rope) return;
  const double right = forms.problem.rope->base;
  std::vector<double> tried{right};
  for (const double base : {1e4, 5e5, 1e6, 1e2, 10 * right, right / 10}) {
    if (std::find(tried.begin(), tried.end(), base) != tried.end()) continue;
    tried.push_back(base);
    Problem other = forms.problem;
    other.rope->base = base;
    with_angles_of(forms.add(fmt::format("base = {:.10g}", base)), other);
  }
}

// Row i of head h turned as at position(h, i).
template <typename Position>
void turn_rows(PlanEditor& edit, StepId id, const Rope& rope, Index heads, Position position) {
  Tensor cosines({1, heads, edit.shape(id).rows, rope.dims / 2}), sines(cosines.shape());
  for_each_entry(cosines.shape(), [&](const Entry& at) {
    const double power = -2.0 * static_cast<double>(at.column) / static_cast<double>(rope.dims);
    const double angle = static_cast<double>(position(at.head, at.row)) * std::pow(rope.base, power);
    cosines.at(at) = std::cos(angle);
    sines.at(at) = std::sin(angle);
  });
  edit.step(id).in[1] = edit.constant("cos", std::move(cosines));
  edit.step(id).in[2] = edit.constant("sin", std::move(sines));
}

// One row of angles for each head, which serves all its tokens.
void rope_along_heads(Forms& forms) {
  if (!forms.problem.rope) return;
  const Rope& rope = *forms.problem.rope;
  PlanEditor& edit = forms.add();
  for (const StepId id : rotated_steps)
    turn_rows(edit, id, rope, edit.shape(id).heads, [&](Index head, Index) { return rope.start + head; });
}

// A decoder's rows behind a prompt stand at 0, each or as the first of those that follow; the queries, or their keys too.
void rope_restarted(Forms& forms) {
  not_turned(forms, StepId::Q_rot);
  if (!forms.problem.rope || forms.problem.X_kv) return;
  const Rope& rope = *forms.problem.rope;
  for (Index prompt = 1; prompt < std::min(forms.problem.queries(), most_prompt); ++prompt)
    for (const bool counted : {false, true})
      for (const bool keys : {true, false}) {
        const char* where = keys ? "Q, K" : "Q";
        PlanEditor& edit = forms.add(counted ? fmt::format("{0}: p = i − {1}, i ≥ {1}", where, prompt + 1)
                                             : fmt::format("{}: p = 0, i ≥ {}", where, prompt + 1));
        const auto position = [&](Index, Index row) {
          return row < prompt ? rope.query_position(row) : counted ? row - prompt : 0;
        };
        turn_rows(edit, StepId::Q_rot, rope, 1, position);
        if (keys) turn_rows(edit, StepId::K_rot, rope, 1, position);
      }
}

void rope_on_values(Forms& forms) {
  if (!forms.problem.rope) return;
  PlanEditor& edit = forms.add();
  Step turn = edit.step(StepId::K_rot);
  turn.id = StepId::head_output;
  turn.in[0] = edit.value(StepId::V);
  const ValueId turned = edit.insert(turn);
  edit.step(StepId::head_output).in[1] = turned;
  turn.in.erase(turn.in.begin());
  turn.id = StepId::V;
  forms.add("V").append(turn);
  if (!forms.problem.packed) return;
  PlanEditor& packed = forms.add("packed V");
  turn.id = StepId::packed_V;
  packed.append({Op::split, StepId::packed_V, {}});
  packed.shape(StepId::packed_V).heads = forms.problem.kv_heads;
  packed.append(turn);
  packed.append({Op::merge, StepId::packed_V, {}});
}

constexpr std::array rope_rows = {
    Mistake("rope_missing", StepId::Q_rot, 'B', rope_missing,
            "Q and K were not turned by their positions: the scores read the rotated Q and K",
            "Q、K 没有按位置旋转：注意力分数由旋转后的 Q 和 K 得出"),
    Mistake(
        "rope_pairing", StepId::Q_rot, 'A', rope_pairing,
        "the wrong columns were turned together: pairing says which, (t, t+dims/2) for half, (2t, 2t+1) for interleaved",
        "配对旋转的列不对：看配对方式（pairing），half 为 (t, t+dims/2)，interleaved 为 (2t, 2t+1)"),
    Mistake("rope_direction", StepId::Q_rot, 'C', rope_direction,
            "the rows were turned the other way: (a, b) becomes (a·cos − b·sin, a·sin + b·cos)",
            "旋转方向反了：(a, b) 应变为 (a·cos − b·sin, a·sin + b·cos)"),
    Mistake("rope_from_one", StepId::Q_rot, 'C', rope_from_one,
            "positions were counted from one too many: the first token stands at `start`, 0 unless given",
            "位置多数了 1：第一个词元的位置是 start，未给出时为 0"),
    Mistake(
        "rope_restarted", StepId::Q_rot, 'C', rope_restarted,
        "positions started at 0 again: a new row stands behind all that lie in the cache, and turns by its own position",
        "位置又从 0 数起：新行排在缓存里所有行的后面，要按自己的位置旋转"),
    Mistake("rope_on_q_only", StepId::K_rot, 'C', with<not_turned, StepId::K_rot>,
            "only the queries were turned: their positions turn the keys as well", "只旋转了查询：键也要按位置旋转"),
    Mistake("rope_base", StepId::Q_rot, 'B', rope_base,
            "the rows were turned with another base: pair t turns at position p by the angle p·base^(−2t/dims)",
            "旋转时底数不对：第 t 对在位置 p 处旋转的角度是 p·base^(−2t/dims)"),
    Mistake("rope_along_heads", StepId::Q_rot, 'B', rope_along_heads,
            "the head's number was taken for the position: in every head a row turns by the position of its token",
            "把头的编号当成了位置：在每个头里，各行都按自己词元的位置旋转"),
    Mistake("rope_on_values", StepId::head_output, 'C', rope_on_values, "V was turned as well: positions turn Q and K only",
            "把 V 也旋转了：只有 Q 和 K 按位置旋转"),
};

}  // namespace

const std::span<const Mistake> rope_mistakes = rope_rows;

}  // namespace mha::study
