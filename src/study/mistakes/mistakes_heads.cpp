// Mistakes in a head's output A·V: other weights, or other values.
#include <array>

#include "study/mistakes/mistake_groups.hpp"

namespace mha::study {
namespace {

// The mean of the heads' weights, the same in each head.
Variants weights_averaged(const Problem& problem, const Plan& right) {
  if (problem.heads == 1) return {};
  PlanEditor edit(right);
  Step mean{Op::pool, StepId::weights, {}};
  mean.pooling = Pooling::mean;
  edit.append(mean);
  edit.append({Op::copy, StepId::weights, {}});
  return only_form(std::move(edit));
}

Variants attention_transposed(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  edit.step(StepId::head_output).first_transposed = true;
  return only_form(std::move(edit));
}

// A·K or A·Q; where they are rotated, people take them before or after.
Variants instead_of_v(const Plan& right, StepId plain, StepId rotated) {
  Variants variants;
  for (const StepId id : {plain, rotated}) {
    PlanEditor edit(right);
    if (!edit.has(id)) continue;
    edit.step(StepId::head_output).in[1] = edit.value(id);
    add_form(variants, std::move(edit), "A·" + std::string(name_of(id).symbol));
  }
  return variants;
}

constexpr std::array rows = {
    Mistake{"weights_averaged",
            {"every head used the mean of all heads' weights: each head has its own",
             "每个头都用了各头权重的平均：各头有自己的权重"},
            StepId::weights,
            'B',
            weights_averaged},
    Mistake{"attention_transposed",
            {"Aᵀ·V was computed: row i of A says how query i mixes the rows of V, so it is A·V",
             "算成了 Aᵀ·V：A 的第 i 行说明查询 i 如何混合 V 的各行，应为 A·V"},
            StepId::head_output,
            'C',
            attention_transposed},
    Mistake{"k_for_v",
            {"the weights were applied to K: they mix the values, A·V", "权重乘到了 K 上：权重混合的是值，应为 A·V"},
            StepId::head_output,
            'B',
            [](const Problem&, const Plan& right) { return instead_of_v(right, StepId::K, StepId::K_rot); }},
    Mistake{"q_for_v",
            {"the weights were applied to Q: they mix the values, A·V", "权重乘到了 Q 上：权重混合的是值，应为 A·V"},
            StepId::head_output,
            'B',
            [](const Problem&, const Plan& right) { return instead_of_v(right, StepId::Q, StepId::Q_rot); }},
};

}  // namespace

std::span<const Mistake> head_mistakes() {
  return rows;
}

}  // namespace mha::study
