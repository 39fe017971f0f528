// Mistakes in the scores Q·Kᵀ: another operand, another order, another kind of product.
#include <array>

#include "study/mistakes/mistake_groups.hpp"

namespace mha::study {
namespace {

Variants reshape_for_transpose(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  const ValueId K = edit.step(StepId::scores).in[1];
  const Shape shape = edit.operand(K).shape;
  const ValueId reread =
      edit.insert({Op::reshape, StepId::scores, {K}}, {shape.batch, shape.heads, shape.cols, shape.rows});
  Step& scores = edit.step(StepId::scores);
  scores.in[1] = reread;
  scores.transposed = false;
  return only_form(std::move(edit));
}

Variants scores_transposed(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  std::vector<ValueId>& in = edit.step(StepId::scores).in;
  std::swap(in[0], in[1]);
  return only_form(std::move(edit));
}

Variants k_not_transposed(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  edit.step(StepId::scores).transposed = false;
  return only_form(std::move(edit));
}

Variants v_for_k(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  edit.step(StepId::scores).in[1] = edit.value(StepId::V);
  return only_form(std::move(edit));
}

Variants elementwise_product(const Problem& problem, const Plan& right) {
  if (problem.queries() != problem.keys() || problem.keys() != problem.d_k()) return {};
  PlanEditor edit(right);
  edit.replace({Op::multiply, StepId::scores, edit.step(StepId::scores).in});
  return only_form(std::move(edit));
}

constexpr std::array rows = {
    Mistake{"reshape_for_transpose",
            {"the numbers of K were only read as d_k×m: Kᵀ exchanges rows and columns, so that column j is key j",
             "只是把 K 的数重新读成 d_k×m：转置要交换行与列，使第 j 列是第 j 个键"},
            StepId::scores,
            'C',
            reshape_for_transpose},
    Mistake{"scores_transposed",
            {"K·Qᵀ was computed: the rows of Q·Kᵀ are queries, its columns keys", "算成了 K·Qᵀ：Q·Kᵀ 的行是查询，列是键"},
            StepId::scores,
            'C',
            scores_transposed},
    Mistake{"k_not_transposed",
            {"Q·K was computed without transposing K: each score is a row of Q times a row of K",
             "没有转置 K，算成了 Q·K：每个打分是 Q 的一行与 K 的一行的点积"},
            StepId::scores,
            'C',
            k_not_transposed},
    Mistake{"v_for_k",
            {"the queries were compared with V: the scores are Q·Kᵀ, V comes in after the softmax",
             "查询是与 V 比较的：打分是 Q·Kᵀ，V 在 softmax 之后才用到"},
            StepId::scores,
            'C',
            v_for_k},
    Mistake{
        "elementwise_product",
        {"Q and K were multiplied entry by entry: each score is the sum over such products, a row of Q times a row of K",
         "把 Q 与 K 逐元素相乘了：每个打分是 Q 的一行与 K 的一行的点积"},
        StepId::scores,
        'C',
        elementwise_product},
};

}  // namespace

std::span<const Mistake> score_mistakes() {
  return rows;
}

}  // namespace mha::study
