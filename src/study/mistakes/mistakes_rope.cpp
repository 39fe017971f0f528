// Mistakes in the rotary positions: left out, turned otherwise, or turned where nothing turns.
#include <array>

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

void rope_from_one(Forms& forms) {
  if (!forms.problem.rope) return;
  Problem later = forms.problem;
  ++later.rope->start;
  for (auto* positions : {&later.rope->positions, &later.rope->positions_kv})
    if (*positions)
      for (Index& position : **positions) ++position;
  PlanEditor &edit = forms.add(), shifted(make_plan(later));
  for (const StepId id : rotated_steps)
    for (const std::size_t i : {1, 2}) {
      const Value& angles = shifted.operand(shifted.step(id).in[i]);
      edit.step(id).in[i] = edit.constant(angles.symbol, *angles.constant);
    }
}

void rope_on_values(Forms& forms) {
  if (!forms.problem.rope) return;
  PlanEditor& edit = forms.add();
  Step turn = edit.step(StepId::K_rot);
  turn.id = StepId::head_output;
  turn.in[0] = edit.value(StepId::V);
  const ValueId turned = edit.insert(std::move(turn));
  edit.step(StepId::head_output).in[1] = turned;
}

constexpr std::array rope_rows = {
    Mistake{"rope_missing",
            {"Q and K were not turned by their positions: the scores read the rotated Q and K",
             "Q、K 没有按位置旋转：注意力分数由旋转后的 Q 和 K 得出"},
            StepId::Q_rot,
            'B',
            rope_missing},
    Mistake{
        "rope_pairing",
        {"the wrong columns were turned together: pairing says which, (t, t+dims/2) for half, (2t, 2t+1) for interleaved",
         "配对旋转的列不对：看配对方式（pairing），half 为 (t, t+dims/2)，interleaved 为 (2t, 2t+1)"},
        StepId::Q_rot,
        'A',
        rope_pairing},
    Mistake{"rope_direction",
            {"the rows were turned the other way: (a, b) becomes (a·cos − b·sin, a·sin + b·cos)",
             "旋转方向反了：(a, b) 应变为 (a·cos − b·sin, a·sin + b·cos)"},
            StepId::Q_rot,
            'C',
            rope_direction},
    Mistake{"rope_from_one",
            {"positions were counted from one too many: the first token stands at `start`, 0 unless given",
             "位置多数了 1：第一个词元的位置是 start，未给出时为 0"},
            StepId::Q_rot,
            'C',
            rope_from_one},
    Mistake{"rope_on_values",
            {"V was turned as well: positions turn Q and K only", "把 V 也旋转了：只有 Q 和 K 按位置旋转"},
            StepId::head_output,
            'C',
            rope_on_values},
};

}  // namespace

std::span<const Mistake> rope_mistakes() {
  return rope_rows;
}

}  // namespace mha::study
