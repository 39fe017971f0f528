// Mistakes with what not every attention layer has: grouped heads, rotary positions, soft caps.
#include <array>

#include "study/mistakes/mistake_groups.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

// Query head i with another K and V head than ⌊i / (h/g)⌋: `group_of(i, g)`. The columns are chosen by a product with 0s
// and 1s: m×(g·d) · (g·d)×d for each query head.
Variants other_groups(const Problem& problem, const Plan& right, Index (*group_of)(Index head, Index groups)) {
  if (problem.kv_heads == problem.heads || problem.kv_heads == 1) return {};
  PlanEditor edit(right);
  for (const Projection& projection : {K_projection, V_projection}) {
    const Index d = edit.shape(projection.id).cols;
    Tensor chosen({1, problem.heads, problem.kv_heads * d, d});
    chosen.fill(0);
    for (Index head = 0; head < problem.heads; ++head)
      for (Index c = 0; c < d; ++c) chosen.at(0, head, group_of(head, problem.kv_heads) * d + c, c) = 1;
    const ValueId choice = edit.constant("0/1", std::move(chosen));
    make_heads(edit, problem, projection, {Op::product, projection.id, {choice}});
  }
  return only_form(std::move(edit));
}

constexpr std::array grouped_rows = {
    Mistake{
        "gqa_tiled",
        {"query head i used key/value head i mod g: neighbouring query heads share one, so it is ⌊i/(h/g)⌋, counted from 0",
         "第 i 个查询头用了第 i mod g 个键/值头：相邻的查询头共用一个，从 0 数起应为 ⌊i/(h/g)⌋"},
        StepId::K,
        'B',
        [](const Problem& p, const Plan& right) {
          return other_groups(p, right, [](Index head, Index groups) { return head % groups; });
        }},
    Mistake{"gqa_wrong_divisor",
            {"query head i used key/value head ⌊i/g⌋: divide by the size of a group, h/g, not by the number of groups g",
             "第 i 个查询头用了第 ⌊i/g⌋ 个键/值头：应除以每组的头数 h/g，而不是组数 g"},
            StepId::K,
            'C',
            [](const Problem& p, const Plan& right) {
              return other_groups(p, right, [](Index head, Index groups) { return head / groups % groups; });
            }},
    Mistake{
        "gqa_first_only",
        {"every query head used the first key/value head: each group of query heads has its own",
         "所有查询头都用了第 1 个键/值头：每组查询头有自己的键/值头"},
        StepId::K,
        'C',
        [](const Problem& p, const Plan& right) { return other_groups(p, right, [](Index, Index) { return Index{0}; }); }},
};

constexpr std::array rotated_steps = {StepId::Q_rot, StepId::K_rot};

Variants rope_missing(const Problem& problem, const Plan& right) {
  if (!problem.rope) return {};
  PlanEditor edit(right);
  for (const StepId id : rotated_steps) edit.replace({Op::copy, id, {edit.step(id).in[0]}});
  return only_form(std::move(edit));
}

Variants rope_pairing(const Problem& problem, const Plan& right) {
  if (!problem.rope) return {};
  PlanEditor edit(right);
  for (const StepId id : rotated_steps) {
    Pairing& pairing = edit.step(id).pairing;
    pairing = pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  }
  return only_form(std::move(edit));
}

Variants rope_direction(const Problem& problem, const Plan& right) {
  if (!problem.rope) return {};
  PlanEditor edit(right);
  for (const StepId id : rotated_steps) {
    Tensor sines = *edit.operand(edit.step(id).in[2]).constant;
    for (Index i = 0; i < sines.size(); ++i) sines.data()[i] = -sines.data()[i];
    const ValueId turned_back = edit.constant("−sin", std::move(sines));
    edit.step(id).in[2] = turned_back;
  }
  return only_form(std::move(edit));
}

Variants rope_from_one(const Problem& problem, const Plan& right) {
  if (!problem.rope) return {};
  Problem later = problem;
  ++later.rope->start;
  for (auto* positions : {&later.rope->positions, &later.rope->positions_kv})
    if (*positions)
      for (Index& position : **positions) ++position;
  PlanEditor edit(right), shifted(make_plan(later));
  for (const StepId id : rotated_steps)
    for (const std::size_t i : {1, 2}) {
      const Value& angles = shifted.operand(shifted.step(id).in[i]);
      const ValueId constant = edit.constant(angles.symbol, *angles.constant);
      edit.step(id).in[i] = constant;
    }
  return only_form(std::move(edit));
}

Variants rope_on_values(const Problem& problem, const Plan& right) {
  if (!problem.rope) return {};
  PlanEditor edit(right);
  Step turn = edit.step(StepId::K_rot);
  turn.id = StepId::head_output;
  turn.in[0] = edit.value(StepId::V);
  const ValueId turned = edit.insert(std::move(turn));
  edit.step(StepId::head_output).in[1] = turned;
  return only_form(std::move(edit));
}

constexpr std::array rope_rows = {
    Mistake{"rope_missing",
            {"Q and K were not turned by their positions: the scores read the rotated Q and K",
             "Q、K 没有按位置旋转：打分用的是旋转后的 Q 和 K"},
            StepId::Q_rot,
            'B',
            rope_missing},
    Mistake{
        "rope_pairing",
        {"the wrong columns were turned together: pairing says which, (t, t+dims/2) for half, (2t, 2t+1) for interleaved",
         "配对旋转的列不对：看 pairing，half 为 (t, t+dims/2)，interleaved 为 (2t, 2t+1)"},
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

Variants softcap_missing(const Problem& problem, const Plan& right) {
  if (!problem.softcap) return {};
  PlanEditor edit(right);
  edit.replace({Op::copy, StepId::capped, {edit.step(StepId::capped).in[0]}});
  return only_form(std::move(edit));
}

Variants softcap_after_mask(const Problem& problem, const Plan& right) {
  PlanEditor edit(right);
  if (!problem.softcap || !edit.has(StepId::masked)) return {};
  edit.step(StepId::masked).in[0] = edit.step(StepId::capped).in[0];
  edit.step(StepId::capped).in[0] = edit.value(StepId::masked);
  edit.step(StepId::weights).in[0] = edit.value(StepId::capped);
  edit.exchange(StepId::capped, StepId::masked);
  return only_form(std::move(edit));
}

constexpr std::array softcap_rows = {
    Mistake{"softcap_missing",
            {"the scaled scores were not capped: take c·tanh(Z/c) before the mask",
             "缩放后的打分没有作软截断：加掩码之前应取 c·tanh(Z/c)"},
            StepId::capped,
            'B',
            softcap_missing},
    Mistake{"softcap_after_mask",
            {"the cap came after the mask and turned −∞ into −c, so that hidden keys get weight: cap first, then mask",
             "软截断放到了掩码之后，−∞ 变成 −c，被遮住的键又得到权重：应先截断，再加掩码"},
            StepId::capped,
            'B',
            softcap_after_mask},
};

}  // namespace

std::span<const Mistake> grouped_mistakes() {
  return grouped_rows;
}
std::span<const Mistake> rope_mistakes() {
  return rope_rows;
}
std::span<const Mistake> softcap_mistakes() {
  return softcap_rows;
}

}  // namespace mha::study
