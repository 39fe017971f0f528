// Mistakes in the scores: in the product Q·Kᵀ, its scale and its cap.
#include <array>
#include <cmath>

#include "study/mistakes/forms.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

void reshape_for_transpose(Forms& forms) {
  PlanEditor& edit = forms.add();
  const ValueId K = edit.step(StepId::scores).in[1];
  const Shape shape = edit.operand(K).shape;
  const ValueId reread =
      edit.insert({Op::reshape, StepId::scores, {K}}, {shape.batch, shape.heads, shape.cols, shape.rows});
  Step& scores = edit.step(StepId::scores);
  scores.in[1] = reread;
  scores.transposed = false;
}

void scores_transposed(Forms& forms) {
  std::vector<ValueId>& in = forms.add().step(StepId::scores).in;
  std::swap(in[0], in[1]);
}

void k_not_transposed(Forms& forms) {
  forms.add().step(StepId::scores).transposed = false;
}

void v_for_k(Forms& forms) {
  PlanEditor& edit = forms.add();
  edit.step(StepId::scores).in[1] = edit.value(StepId::V);
}

void elementwise_product(Forms& forms) {
  const Problem& problem = forms.problem;
  if (problem.queries() != problem.keys() || problem.keys() != problem.d_k()) return;
  PlanEditor& edit = forms.add();
  edit.replace({Op::multiply, StepId::scores, edit.step(StepId::scores).in});
}

// Row i's first i + 1 entries in reverse, the others as they are. With all columns reversed behind a 0, and read one column
// narrower, row i begins i entries earlier (Dai et al. 2019); then the first row goes.
ValueId newest_first(PlanEditor& edit, StepId id, ValueId rows) {
  const Shape shape = edit.shape(StepId::scores);
  const Index n = shape.cols;
  const auto with_one = [n](auto column) {
    return by_rule({1, 1, n, n + 1}, [=](Index row, double* to) { std::fill_n(to, n + 1, 0.0), to[column(row)] = 1; });
  };
  Tensor reversed = with_one([n](Index row) { return n - row; }), last = with_one([](Index row) { return row + 1; });
  const Tensor seen = by_rule({1, 1, n, n}, [n](Index row, double* to) {
    for (Index j = 0; j < n; ++j) to[j] = j <= row ? 1 : 0;
  });
  const ValueId wide = edit.insert({Op::product, id, {rows, edit.constant("reversed", std::move(reversed))}});
  const ValueId narrow = edit.insert({Op::reshape, id, {wide}}, {shape.batch, shape.heads, n + 1, n});
  const ValueId moved = edit.insert({Op::product, id, {edit.constant("last", std::move(last)), narrow}});
  const ValueId turned = edit.insert({Op::multiply, id, {moved, edit.constant("seen", seen)}});
  const ValueId others = edit.insert({Op::multiply, id, {rows, edit.constant("unseen", choose(seen, 0, 1))}});
  return edit.insert({Op::add, id, {turned, others}});
}

void cache_reversed(Forms& forms) {
  if (forms.problem.X_kv || !can_be_cached(forms.right)) return;
  for (const char* which : {"K, V", "K", "V"}) {
    PlanEditor& edit = forms.add(which);
    if (which[0] == 'K') {
      const ValueId right = edit.insert(edit.step(StepId::scores));
      edit.replace({Op::copy, StepId::scores, {newest_first(edit, StepId::scores, right)}});
    }
    if (which[0] == 'V' || which[1] == ',') {
      const ValueId weights = newest_first(edit, StepId::head_output, edit.value(StepId::weights));
      edit.step(StepId::head_output).in[0] = weights;
    }
  }
}

// A number times the scores; `factor` under the name by which it is known.
void scaled_by(Forms& forms, const char* symbol, double factor) {
  if (!forms.has(StepId::scaled)) return;
  PlanEditor& edit = forms.add();
  edit.step(StepId::scaled).in[1] = edit.constant(symbol, factor);
}

double d_k(const Forms& forms) {
  return static_cast<double>(forms.problem.d_k());
}

// Where it is √d_model, it is called that.
void scale_sqrt_all_heads(Forms& forms) {
  const Index width = forms.problem.heads * forms.problem.d_k();
  if (width != forms.problem.d_model()) scaled_by(forms, "1/√(h·d_k)", 1 / std::sqrt(static_cast<double>(width)));
}

void no_scale(Forms& forms) {
  if (forms.has(StepId::scaled)) forms.add().leave_out(StepId::scaled);
}

void scale_after_softmax(Forms& forms) {
  if (!forms.has(StepId::scaled)) return;
  PlanEditor& edit = forms.add();
  const ValueId scale = edit.step(StepId::scaled).in[1];
  edit.leave_out(StepId::scaled);
  edit.append({Op::multiply, StepId::weights, {scale}});
}

void softcap_missing(Forms& forms) {
  if (forms.problem.softcap) forms.add().leave_out(StepId::capped);
}

void softcap_after_mask(Forms& forms) {
  if (!forms.problem.softcap || !forms.has(StepId::masked)) return;
  PlanEditor& edit = forms.add();
  edit.step(StepId::masked).in[0] = edit.step(StepId::capped).in[0];
  edit.step(StepId::capped).in[0] = edit.value(StepId::masked);
  edit.step(StepId::weights).in[0] = edit.value(StepId::capped);
  edit.exchange(StepId::capped, StepId::masked);
}

constexpr std::array score_rows = {
    Mistake("reshape_for_transpose", StepId::scores, 'C', reshape_for_transpose,
            "the numbers of K were only read as d_k×m: Kᵀ exchanges rows and columns, so that column j is key j",
            "只是把 K 的数重塑成 d_k×m：转置要交换行与列，使第 j 列是第 j 个键"),
    Mistake("scores_transposed", StepId::scores, 'C', scores_transposed,
            "K·Qᵀ was computed: the rows of Q·Kᵀ are queries, its columns keys", "算成了 K·Qᵀ：Q·Kᵀ 的行是查询，列是键"),
    Mistake("k_not_transposed", StepId::scores, 'C', k_not_transposed,
            "Q·K was computed without transposing K: each score is a row of Q times a row of K",
            "没有转置 K，算成了 Q·K：每个分数是 Q 的一行与 K 的一行的点积"),
    Mistake("v_for_k", StepId::scores, 'C', v_for_k,
            "the queries were compared with V: the scores are Q·Kᵀ, V comes in after the softmax",
            "查询是与 V 比较的：注意力分数是 Q·Kᵀ，V 在 softmax 之后才用到"),
    Mistake("elementwise_product", StepId::scores, 'C', elementwise_product,
            "Q and K were multiplied entry by entry: each score is the sum over such products, a row of Q times a row of K",
            "把 Q 与 K 逐元素相乘了：每个分数是 Q 的一行与 K 的一行的点积"),
    Mistake(
        "cache_reversed", StepId::scores, 'C', cache_reversed,
        "the cache had its rows in the wrong order, the newest first: row j of it is token j, so that column j is key j",
        "缓存里各行的顺序反了，最新的在最前面：第 j 行是词元 j，使第 j 列是第 j 个键"),
    Mistake("no_scale", StepId::scaled, 'B', no_scale, "the scores were not scaled: divide them by √d_k before the softmax",
            "没有缩放注意力分数：softmax 之前要除以 √d_k"),
    Mistake(
        "scale_sqrt_dmodel", StepId::scaled, 'A',
        [](Forms& forms) { scaled_by(forms, "1/√d_model", 1 / std::sqrt(static_cast<double>(forms.problem.d_model()))); },
        "the scores were divided by √d_model instead of √d_k: each head has its own width d_k",
        "分数除以了 √d_model 而不是 √d_k：每个头的宽度是 d_k"),
    Mistake("scale_sqrt_all_heads", StepId::scaled, 'B', scale_sqrt_all_heads,
            "the scores were divided by √(h·d_k), the root of the width of all heads together: divide by √d_k, the root of "
            "one head's width",
            "分数除以了所有头合起来的宽度的平方根 √(h·d_k)：应除以一个头的宽度的平方根 √d_k"),
    Mistake(
        "scale_dk", StepId::scaled, 'B', [](Forms& forms) { scaled_by(forms, "1/d_k", 1 / d_k(forms)); },
        "the scores were divided by d_k, without the root or by √d_k twice: divide them once, by √d_k",
        "分数除以了 d_k（没有开方，或除了两次 √d_k）：应只除一次 √d_k"),
    Mistake(
        "scale_multiplied", StepId::scaled, 'C', [](Forms& forms) { scaled_by(forms, "√d_k", std::sqrt(d_k(forms))); },
        "the scores were multiplied by √d_k: they are divided by it", "分数乘以了 √d_k：应当除以它"),
    Mistake(
        "scale_fourth_root", StepId::scaled, 'C',
        [](Forms& forms) { scaled_by(forms, "1/∜d_k", std::pow(d_k(forms), -0.25)); },
        "the scores were divided by the fourth root of d_k: divide by the square root √d_k (or by the fourth root in Q and "
        "in K)",
        "分数除以了 d_k 的四次方根：应除以平方根 √d_k（若用四次方根，须 Q 和 K 各除一次）"),
    Mistake(
        "scale_sqrt_heads", StepId::scaled, 'C',
        [](Forms& forms) { scaled_by(forms, "1/√h", 1 / std::sqrt(static_cast<double>(forms.problem.heads))); },
        "the scores were divided by the root of the number of heads: divide by √d_k, the root of a head's width",
        "分数除以了头数的平方根：应除以每个头宽度的平方根 √d_k"),
    Mistake(
        "scale_sqrt_n", StepId::scaled, 'C',
        [](Forms& forms) { scaled_by(forms, "1/√n", 1 / std::sqrt(static_cast<double>(forms.problem.queries()))); },
        "the scores were divided by the root of the number of tokens: divide by √d_k, the root of a head's width",
        "分数除以了词元数的平方根：应除以每个头宽度的平方根 √d_k"),
    Mistake("scale_after_softmax", StepId::scaled, 'C', scale_after_softmax,
            "the weights were scaled after the softmax, so that rows no longer sum to 1: scale the scores before it",
            "softmax 之后才缩放，各行之和不再是 1：应先缩放分数，再做 softmax"),
    Mistake("softcap_missing", StepId::capped, 'B', softcap_missing,
            "the scaled scores were not capped: take c·tanh(Z/c) before the mask",
            "缩放后的分数没有作软截断：加掩码之前应取 c·tanh(Z/c)"),
    Mistake("softcap_after_mask", StepId::capped, 'B', softcap_after_mask,
            "the cap came after the mask and turned −∞ into −c, so that hidden keys get weight: cap first, then mask",
            "加掩码之后才作软截断，−∞ 变成 −c，被遮住的键又得到权重：应先截断，再加掩码"),
};

}  // namespace

const std::span<const Mistake> score_mistakes = score_rows;

}  // namespace mha::study
