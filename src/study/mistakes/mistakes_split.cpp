// Mistakes in how the heads are made: from slices of X, with shared weights, from the wrong columns, or not at all.
#include <array>
#include <cmath>

#include "study/mistakes/mistake_groups.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

// X cut into slices, one for each head, so that head i meets only the rows of its own slice in W; every other row counts as
// 0. With `shared`, all heads use head 1's block.
Variants split_input(const Problem& problem, const Plan& right, bool shared) {
  if (problem.heads != problem.kv_heads) return {};
  PlanEditor edit(right);
  for (const Projection& projection : projections) {
    const Tensor W = weights_of(projection, problem);
    const Shape& shape = W.shape();
    if (shape.rows % problem.heads != 0) return {};
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
  return only_form(std::move(edit));
}

Variants same_weights(const Problem& problem, const Plan& right) {
  PlanEditor edit(right);
  for (const Projection& projection : projections) {
    const Tensor W = weights_of(projection, problem);
    const Index d = W.shape().cols / problem.*projection.heads;
    std::vector<Index> of_head_1;
    for (Index c = 0; c < W.shape().cols; ++c) of_head_1.push_back(c % d);
    set_weights(edit, problem, projection, columns(W, of_head_1));
  }
  return only_form(std::move(edit));
}

Variants heads_made_by(const Problem& problem, const Plan& right, const Step& how) {
  PlanEditor edit(right);
  for (const Projection& projection : projections) make_heads(edit, problem, projection, how);
  return only_form(std::move(edit));
}

Variants heads_from_columns(const Problem& problem, const Plan& right, Arrangement arrangement) {
  Step how{Op::split, StepId::Q, {}};
  how.arrangement = arrangement;
  return heads_made_by(problem, right, how);
}

// The merge of one matrix is that matrix, so all columns stay together.
PlanEditor with_one_head(const Problem& problem, const Plan& right) {
  PlanEditor edit(right);
  for (const Projection& projection : projections) make_heads(edit, problem, projection, {Op::merge, projection.id, {}});
  return edit;
}

// A scale of the problem's own may be kept.
Variants not_split(const Problem& problem, const Plan& right) {
  Variants variants;
  if (problem.scale.kind != Scale::Kind::inverse_root_of_d_k)
    add_form(variants, with_one_head(problem, right), problem.scale.kind == Scale::Kind::none ? "" : "scale");
  if (problem.scale.kind == Scale::Kind::none) return variants;
  PlanEditor edit = with_one_head(problem, right);
  Tensor factor({1, 1, 1, 1});
  factor.fill(1 / std::sqrt(static_cast<double>(problem.heads * problem.d_k())));
  edit.step(StepId::scaled).in[1] = edit.constant("1/√(h·d_k)", std::move(factor));
  add_form(variants, std::move(edit), variants.empty() ? "" : "1/√(h·d_k)");
  return variants;
}

constexpr std::array rows = {
    Mistake{"split_input",
            {"X was cut into one slice for each head and each slice projected alone: every head projects all of X",
             "先把 X 按头切片，再让每片单独作投影：每个头都要对整个 X 作投影"},
            StepId::Q,
            'A',
            [](const Problem& p, const Plan& right) { return split_input(p, right, false); }},
    Mistake{"split_input_shared",
            {"X was cut into slices and one small block of W served all heads: every head projects all of X with its own "
             "weights",
             "把 X 切片后各头共用 W 的同一小块：每个头都要用自己的权重对整个 X 作投影"},
            StepId::Q,
            'C',
            [](const Problem& p, const Plan& right) { return split_input(p, right, true); }},
    Mistake{"same_weights",
            {"every head used the weights of head 1: each head has its own W_Q, W_K and W_V",
             "每个头都用了第 1 个头的权重：各头有自己的 W_Q、W_K、W_V"},
            StepId::Q,
            'C',
            same_weights},
    Mistake{"reshape_without_transpose",
            {"the n×(h·d_k) numbers were only read as h×n×d_k: read them as n×h×d_k, then swap the first two axes",
             "n×(h·d_k) 的数只按 h×n×d_k 重新读取：应先读成 n×h×d_k，再交换前两个轴"},
            StepId::Q,
            'A',
            [](const Problem& p, const Plan& right) {
              return heads_made_by(p, right, {Op::reshape, StepId::Q, {}});
            }},
    Mistake{"strided_heads",
            {"head i took the columns i, i+h, i+2h, …: its columns stand next to each other, head 1's d_k first",
             "第 i 个头取了第 i, i+h, i+2h, … 列：每个头的列是相邻的，先是第 1 个头的 d_k 列"},
            StepId::Q,
            'C',
            [](const Problem& p, const Plan& right) { return heads_from_columns(p, right, Arrangement::interleaved); }},
    Mistake{"heads_reversed",
            {"the heads were cut in reverse order: the first d_k columns are head 1",
             "切分时头的顺序颠倒：最前面的 d_k 列是第 1 个头"},
            StepId::Q,
            'C',
            [](const Problem& p, const Plan& right) { return heads_from_columns(p, right, Arrangement::reversed); }},
    Mistake{"not_split",
            {"one head was computed over all columns: cut Q, K and V into h heads of width d_k and attend in each",
             "把所有列当成一个头来计算：应把 Q、K、V 切成 h 个宽为 d_k 的头，各自做注意力"},
            StepId::Q,
            'C',
            not_split},
};

}  // namespace

std::span<const Mistake> split_mistakes() {
  return rows;
}

}  // namespace mha::study
