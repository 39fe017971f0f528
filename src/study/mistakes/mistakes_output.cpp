// Mistakes behind the heads: how they are put side by side, and the output projection.

#include "study/mistakes/forms.hpp"

namespace mha::study {
namespace {

void merge_as_reshape(PlanEditor& edit) {
  edit.replace({Op::reshape, StepId::concat, {edit.value(StepId::head_output)}});
}

// Programs may fold the heads into the axis of the items, which is then read as that of the items and the tokens.
void merge_without_transpose(Forms& forms) {
  merge_as_reshape(forms.add());
  if (forms.problem.batch() == 1 || forms.problem.heads == 1) return;
  PlanEditor& edit = forms.add("h×b×n×d_v → b×n×(h·d_v)");
  merge_as_reshape(edit);
  edit.step(StepId::concat).heads_first = true;
}

void concat_arranged(Forms& forms, Arrangement arrangement) {
  forms.add().step(StepId::concat).arrangement = arrangement;
}

// W_O does not fit any more.
void output_is_concat(PlanEditor& edit) {
  edit.replace({Op::copy, StepId::output, {edit.value(StepId::concat)}});
}

// n×d_v
void heads_pooled(Forms& forms, Pooling pooling) {
  if (forms.problem.heads == 1) return;
  PlanEditor& edit = forms.add();
  Step pool{Op::pool, StepId::concat, {edit.value(StepId::head_output)}};
  pool.pooling = pooling;
  edit.replace(std::move(pool));
  output_is_concat(edit);
}

// (h·n)×d_v
void concat_rows(Forms& forms) {
  if (forms.problem.heads == 1) return;
  PlanEditor& edit = forms.add();
  const Shape heads = edit.shape(StepId::head_output);
  merge_as_reshape(edit);
  edit.shape(StepId::concat) = {heads.batch, 1, heads.heads * heads.rows, heads.cols};
  output_is_concat(edit);
}

bool has_output_weights(const Forms& forms) {
  return !forms.problem.output_is_concat;
}

void wo_missing(Forms& forms) {
  if (has_output_weights(forms)) output_is_concat(forms.add());
}

void wo_transposed(Forms& forms) {
  if (!has_output_weights(forms)) return;
  Step& output = forms.add().step(StepId::output);
  output.transposed = !output.transposed;
}

void bo_forgotten(Forms& forms) {
  if (has_output_weights(forms) && forms.problem.O.b) forms.add().step(StepId::output).in.resize(2);
}

void residual_added(Forms& forms) {
  if (forms.problem.residual || forms.problem.d_model() != forms.problem.d_out()) return;
  PlanEditor& edit = forms.add();
  edit.append({Op::add, StepId::output, {edit.value(StepId::X)}});
}

void relu_output(Forms& forms) {
  forms.add().append(relu(StepId::output));
}

constexpr std::array output_rows = {
    Mistake("merge_without_transpose", StepId::concat, 'A', merge_without_transpose,
            "the h×n×d_v numbers of the heads were only read as n×(h·d_v): swap the first two axes, then put the heads "
            "side by side",
            "各头的 h×n×d_v 个数直接重塑成 n×(h·d_v)：应先交换前两个轴，再把各头并排"),
    Mistake("concat_reversed", StepId::concat, 'C', with<concat_arranged, Arrangement::reversed>,
            "the heads were put side by side in reverse order: head 1 comes first", "拼接时头的顺序颠倒：头 1 在最前"),
    Mistake("concat_interleaved", StepId::concat, 'C', with<concat_arranged, Arrangement::interleaved>,
            "the columns of the heads were taken in turns: all columns of head 1 come first, then those of head 2",
            "各头的列被轮流排列：先是头 1 的所有列，再是头 2 的"),
    Mistake("heads_averaged", StepId::concat, 'B', with<heads_pooled, Pooling::mean>,
            "the heads were averaged: put them side by side, W_O mixes them",
            "对各头取了平均：应把它们并排拼接，由 W_O 来混合"),
    Mistake("heads_summed", StepId::concat, 'B', with<heads_pooled, Pooling::sum>,
            "the heads were added up: put them side by side, W_O mixes them",
            "把各头相加了：应把它们并排拼接，由 W_O 来混合"),
    Mistake("heads_max", StepId::concat, 'B', with<heads_pooled, Pooling::maximum>,
            "the largest entry over the heads was taken: put the heads side by side, W_O mixes them",
            "在各头之间取了最大值：应把它们并排拼接，由 W_O 来混合"),
    Mistake("concat_rows", StepId::concat, 'B', concat_rows,
            "the heads were put below one another: put them side by side, so that each token keeps one row",
            "把各头上下叠放了：应左右并排，每个词元仍是一行"),
    Mistake("wo_missing", StepId::output, 'A', wo_missing,
            "the concatenation was handed in as the output: multiply it by W_O, which mixes the heads",
            "把拼接结果直接当作输出：还要乘以 W_O，把各头的结果混合起来"),
    Mistake("wo_transposed", StepId::output, 'C', wo_transposed,
            "the concatenation was multiplied by W_Oᵀ: it is Concat·W_O", "拼接结果乘的是 W_Oᵀ：应为 Concat·W_O"),
    Mistake("bo_forgotten", StepId::output, 'C', bo_forgotten, "b_O was left out: it is added to every row of Concat·W_O",
            "漏加了 b_O：Concat·W_O 的每一行都要加上它"),
    Mistake("residual_added", StepId::output, 'C', residual_added,
            "X was added to the output: the residual connection comes after the attention layer, not in it",
            "输出加上了 X：残差连接在注意力层之后，不属于这一层"),
    Mistake("relu_output", StepId::output, 'C', relu_output,
            "negative entries of the output were set to 0 (ReLU): the output projection has no activation function",
            "把输出中的负数置成了 0（ReLU）：输出投影之后没有激活函数"),
};

}  // namespace

const std::span<const Mistake> output_mistakes = output_rows;

}  // namespace mha::study
