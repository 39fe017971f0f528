// Mistakes in the softmax: along another axis, another formula, or none.
#include <array>

#include "study/check/hidden_keys.hpp"
#include "study/mistakes/mistake_groups.hpp"

namespace mha::study {
namespace {

Variants other_softmax(const Plan& right, const Softmax& softmax) {
  PlanEditor edit(right);
  edit.step(StepId::weights).softmax = softmax;
  return only_form(std::move(edit));
}

Variants softmax_over(const Plan& right, Softmax::Over over) {
  Softmax softmax;
  softmax.over = over;
  return other_softmax(right, softmax);
}

Variants softmax_overflow(const Problem&, const Plan& right) {
  Softmax softmax;
  softmax.maximum_subtracted = false;
  return other_softmax(right, softmax);
}

Variants softmax_plus_one(const Problem&, const Plan& right) {
  Variants variants;
  for (const bool maximum_subtracted : {false, true}) {
    PlanEditor edit(right);
    Softmax& softmax = edit.step(StepId::weights).softmax;
    softmax.one_more = true;
    softmax.maximum_subtracted = maximum_subtracted;
    add_form(variants, std::move(edit), maximum_subtracted ? "e^(z−max) / (1 + Σ e^(z−max))" : "e^z / (1 + Σ e^z)");
  }
  return variants;
}

Variants softmax_twice(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  edit.append({Op::softmax, StepId::weights, {}});
  return only_form(std::move(edit));
}

Variants softmax_base2(const Problem&, const Plan& right) {
  Softmax softmax;
  softmax.power = Softmax::Power::two;
  return other_softmax(right, softmax);
}

// Something else than a softmax makes the weights; then hidden entries are 0 on paper, or −∞ in a program.
template <typename Change>
Variants without_exponential(const Plan& right, Change change) {
  Variants variants;
  if (const std::optional<Tensor> keep = keep_of(right)) {
    PlanEditor edit(right);
    mask_by_product(edit, *keep);
    change(edit);
    add_form(variants, std::move(edit), "M = Z ∘ keep");
  }
  PlanEditor edit(right);
  change(edit);
  add_form(variants, std::move(edit), variants.empty() ? "" : "M = Z + (−∞)");
  return variants;
}

Variants no_softmax(const Problem&, const Plan& right) {
  return without_exponential(right, [](PlanEditor& edit) {
    edit.replace({Op::copy, StepId::weights, {edit.step(StepId::weights).in[0]}});
  });
}

Variants sum_normalised(const Problem&, const Plan& right) {
  return without_exponential(right,
                             [](PlanEditor& edit) { edit.step(StepId::weights).softmax.power = Softmax::Power::none; });
}

constexpr std::array rows = {
    Mistake{
        "softmax_columns",
        {"the softmax ran down the columns: each row (query) sums to 1", "softmax 沿列做了：应使每一行 (查询) 之和为 1"},
        StepId::weights,
        'A',
        [](const Problem&, const Plan& right) { return softmax_over(right, Softmax::Over::column); }},
    Mistake{"softmax_heads",
            {"the softmax ran over the heads: in each head each row sums to 1",
             "softmax 沿各个头做了：应在每个头内使每一行之和为 1"},
            StepId::weights,
            'C',
            [](const Problem&, const Plan& right) { return softmax_over(right, Softmax::Over::heads); }},
    Mistake{"softmax_all",
            {"the softmax ran over the whole matrix, which sums to 1 in all: each row sums to 1",
             "softmax 对整个矩阵做了，全部之和为 1：应使每一行之和为 1"},
            StepId::weights,
            'C',
            [](const Problem&, const Plan& right) { return softmax_over(right, Softmax::Over::matrix); }},
    Mistake{"softmax_overflow",
            {"e^z overflowed and gave NaN: subtract the row's maximum first, which changes no weight",
             "e^z 溢出而得 NaN：应先减去该行的最大值，权重不变"},
            StepId::weights,
            'A',
            softmax_overflow},
    Mistake{"softmax_plus_one",
            {"the denominator had one added: it is the sum of the row's powers alone",
             "分母多加了 1：分母只是该行各个指数之和"},
            StepId::weights,
            'B',
            softmax_plus_one},
    Mistake{"softmax_twice",
            {"the softmax was taken twice: once turns scores into weights", "softmax 做了两次：做一次就由打分得到权重"},
            StepId::weights,
            'B',
            softmax_twice},
    Mistake{"softmax_base2",
            {"powers of 2 were taken: softmax takes powers of e", "用了 2 的幂：softmax 用的是 e 的幂"},
            StepId::weights,
            'C',
            softmax_base2},
    Mistake{"no_softmax",
            {"the softmax was left out: the scores become weights by e^z and division by the row's sum",
             "漏了 softmax：打分要取 e^z 再除以该行之和，才是权重"},
            StepId::weights,
            'C',
            no_softmax},
    Mistake{"sum_normalised",
            {"the scores were divided by their row's sum without the power: softmax is e^z divided by the row's sum of e^z",
             "打分没有取指数就除以了该行之和：softmax 是 e^z 除以该行 e^z 之和"},
            StepId::weights,
            'C',
            sum_normalised},
};

}  // namespace

std::span<const Mistake> softmax_mistakes() {
  return rows;
}

}  // namespace mha::study
