// Mistakes in how the heads are made: from slices of X, with shared weights, from the wrong columns, of another group, or
// not at all.

#include "study/mistakes/forms.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

// X cut into slices, one for each head, so that head i meets only the rows of its own slice in W; every other row counts as
// 0. With `shared`, all heads use head 1's block.
void split_input(Forms& forms, bool shared) {
  const Problem& problem = forms.problem;
  if (problem.heads != problem.kv_heads) return;
  PlanEditor& edit = forms.add();
  for (const Projection& projection : projections) {
    const Tensor W = weights_of(projection, problem);
    const Shape& shape = W.shape();
    if (shape.rows % problem.heads != 0) return forms.none();
    const Index slice = shape.rows / problem.heads, d = shape.cols / problem.heads;
    Tensor blocks(shape);
    blocks.fill(0);
    for (Index head = 0; head < problem.heads; ++head)
      for (Index r = 0; r < slice; ++r)
        for (Index c = 0; c < d; ++c) {
          const Index from = shared ? 0 : head;
          blocks.at(0, 0, head * slice + r, head * d + c) = W.at(0, 0, from * slice + r, from * d + c);
        }
    set_weights(edit, problem, projection, blocks);
  }
}

void same_weights(Forms& forms) {
  const Problem& problem = forms.problem;
  PlanEditor& edit = forms.add();
  for (const Projection& projection : projections) {
    const Tensor W = weights_of(projection, problem);
    const Index d = W.shape().cols / problem.*projection.heads;
    std::vector<Index> of_head_1;
    for (Index c = 0; c < W.shape().cols; ++c) of_head_1.push_back(c % d);
    set_weights(edit, problem, projection, columns(W, of_head_1));
  }
}

void heads_made_by(PlanEditor& edit, const Problem& problem, const Step& how) {
  for (const Projection& projection : projections) make_heads(edit, problem, projection, how);
}

void reshaped_heads(Forms& forms) {
  heads_made_by(forms.add(), forms.problem, {Op::reshape, StepId::Q, {}});
}

void heads_from_columns(Forms& forms, Arrangement arrangement) {
  Step how{Op::split, StepId::Q, {}};
  how.arrangement = arrangement;
  heads_made_by(forms.add(), forms.problem, how);
}

// The merge of one matrix is that matrix, so all columns stay together. A scale of the problem's own may be kept.
void not_split(Forms& forms) {
  const Problem& problem = forms.problem;
  const Step how{Op::merge, StepId::Q, {}};
  const bool usual = problem.scale.kind == Scale::Kind::inverse_root_of_d_k, none = problem.scale.kind == Scale::Kind::none;
  if (!usual) heads_made_by(forms.add(none ? "" : "scale"), problem, how);
  if (none) return;
  PlanEditor& edit = forms.add(usual ? "" : "1/√(h·d_k)");
  heads_made_by(edit, problem, how);
  const double width = static_cast<double>(problem.heads * problem.d_k());
  edit.step(StepId::scaled).in[1] = edit.constant("1/√(h·d_k)", 1 / std::sqrt(width));
}

// Query head i with another K and V head than ⌊i / (h/g)⌋: `group_of(i, g)`. The columns are chosen by a product with 0s
// and 1s: m×(g·d) · (g·d)×d for each query head.
void other_groups(Forms& forms, Index (*group_of)(Index head, Index groups)) {
  const Problem& problem = forms.problem;
  if (problem.kv_heads == problem.heads || problem.kv_heads == 1) return;
  PlanEditor& edit = forms.add();
  for (const Projection& projection : {K_projection, V_projection}) {
    const Index d = edit.shape(projection.id).cols;
    Tensor chosen({1, problem.heads, problem.kv_heads * d, d});
    chosen.fill(0);
    for (Index head = 0; head < problem.heads; ++head)
      for (Index c = 0; c < d; ++c) chosen.at(0, head, group_of(head, problem.kv_heads) * d + c, c) = 1;
    const ValueId choice = edit.constant("0/1", std::move(chosen));
    make_heads(edit, problem, projection, {Op::product, projection.id, {choice}});
  }
}

constexpr std::array head_rows = {
    Mistake("split_input", StepId::Q, 'A', with<split_input, false>,
            "X was cut into one slice for each head and each slice projected alone: every head projects all of X",
            "先把 X 按头切段，再让每段单独作投影：每个头都要对整个 X 作投影"),
    Mistake("split_input_shared", StepId::Q, 'C', with<split_input, true>,
            "X was cut into slices and one small block of W served all heads: every head projects all of X with its own "
            "weights",
            "把 X 切段后各头共用 W 的同一小块：每个头都要用自己的权重矩阵对整个 X 作投影"),
    Mistake("same_weights", StepId::Q, 'C', same_weights,
            "every head used the weights of head 1: each head has its own W_Q, W_K and W_V",
            "每个头都用了头 1 的权重矩阵：各头有自己的 W_Q、W_K、W_V"),
    Mistake("reshape_without_transpose", StepId::Q, 'A', reshaped_heads,
            "the n×(h·d_k) numbers were only read as h×n×d_k: read them as n×h×d_k, then swap the first two axes",
            "n×(h·d_k) 的数直接重塑成 h×n×d_k：应先重塑成 n×h×d_k，再交换前两个轴"),
    Mistake("strided_heads", StepId::Q, 'C', with<heads_from_columns, Arrangement::interleaved>,
            "head i took the columns i, i+h, i+2h, …: its columns stand next to each other, head 1's d_k first",
            "第 i 个头取了第 i、i+h、i+2h、… 列：每个头的列是相邻的，先是头 1 的 d_k 列"),
    Mistake("heads_reversed", StepId::Q, 'C', with<heads_from_columns, Arrangement::reversed>,
            "the heads were cut in reverse order: the first d_k columns are head 1",
            "拆成各头时顺序颠倒：最前面的 d_k 列是头 1"),
    Mistake("not_split", StepId::Q, 'C', not_split,
            "one head was computed over all columns: cut Q, K and V into h heads of width d_k and attend in each",
            "把所有列当成一个头来计算：应把 Q、K、V 拆成 h 个宽为 d_k 的头，各自做注意力"),
    Mistake(
        "gqa_tiled", StepId::K, 'B',
        [](Forms& forms) { other_groups(forms, [](Index head, Index groups) { return head % groups; }); },
        "query head i used key/value head i mod g: neighbouring query heads share one, so it is ⌊i/(h/g)⌋, counted from 0",
        "从 0 数起，第 i 个查询头用了第 i mod g 个键值头：相邻的查询头共用一个，应为 ⌊i/(h/g)⌋"),
    Mistake(
        "gqa_wrong_divisor", StepId::K, 'C',
        [](Forms& forms) { other_groups(forms, [](Index head, Index groups) { return head / groups % groups; }); },
        "query head i used key/value head ⌊i/g⌋: divide by the size of a group, h/g, not by the number of groups g",
        "从 0 数起，第 i 个查询头用了第 ⌊i/g⌋ 个键值头：应除以每组的头数 h/g，而不是组数 g"),
    Mistake(
        "gqa_first_only", StepId::K, 'C', [](Forms& forms) { other_groups(forms, [](Index, Index) { return Index{0}; }); },
        "every query head used the first key/value head: each group of query heads has its own",
        "所有查询头都用了键值头 1：每组查询头有自己的键值头"),
};

}  // namespace

const std::span<const Mistake> head_mistakes = head_rows;

}  // namespace mha::study
