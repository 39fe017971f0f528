// Mistakes in the projections: wrong weights, wrong biases, or none.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "study/mistakes/forms.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

using Projections = std::vector<Projection>;

constexpr const Projection& projection_of(StepId id) {
  return projections[static_cast<std::size_t>(id) - static_cast<std::size_t>(StepId::Q)];
}

// The form made with these of Q, K and V.
template <auto form, StepId... ids>
void of(Forms& forms) {
  form(forms, Projections{projection_of(ids)...});
}

// X·Wᵀ fits where W is square: that of all heads, or else each head's own.
void transpose_weights(PlanEditor& edit, const Problem& problem, const Projection& projection) {
  const Tensor W = weights_of(projection, problem);
  const Index size = W.shape().rows;
  if (W.shape().cols != size) {
    Step& product = edit.step(product_of(projection, problem));
    product.transposed = !product.transposed;
    return;
  }
  Tensor turned(W.shape());
  for (Index r = 0; r < size; ++r)
    for (Index c = 0; c < size; ++c) turned.at(0, 0, r, c) = W.at(0, 0, c, r);
  set_weights(edit, problem, projection, turned);
}

void weights_transposed(Forms& forms, const Projections& which) {
  PlanEditor& edit = forms.add();
  for (const Projection& projection : which) transpose_weights(edit, forms.problem, projection);
}

void bias_forgotten(Forms& forms, const Projections& which) {
  PlanEditor& edit = forms.add();
  bool forgotten = false;
  for (const Projection& projection : which) {
    if (!(forms.problem.*projection.linear).b) continue;
    edit.step(product_of(projection, forms.problem)).in.resize(2);
    forgotten = true;
  }
  if (!forgotten) forms.none();
}

using Sources = std::vector<std::pair<Projection, Projection>>;  // whose result, whose weights

std::string weights_and_own_biases(const Sources& sources) {
  std::string text;
  for (const auto& [result, source] : sources) {
    const std::string_view to = name_of(result.id).symbol, from = name_of(source.id).symbol;
    text += fmt::format("{}{} ← W_{}, b_{}", text.empty() ? "" : "; ", to, from, to);
  }
  return text;
}

// Several projections made with the weights of another, and with its bias or still with their own.
void with_weights_of_another(Forms& forms, const Sources& sources) {
  const Problem& problem = forms.problem;
  bool biased = false;
  for (const auto& [result, source] : sources) {
    if (problem.*result.heads != problem.*source.heads) return;
    biased = biased || (problem.*result.linear).b || (problem.*source.linear).b;
  }
  PlanEditor original(forms.right);
  for (const bool own_bias : {false, true}) {
    if (own_bias && !biased) return;
    PlanEditor& edit = forms.add(own_bias ? weights_and_own_biases(sources) : "");
    for (const auto& [result, source] : sources) {
      std::vector<ValueId>& in = edit.step(product_of(result, problem)).in;
      const std::vector<ValueId>& from = original.step(product_of(source, problem)).in;
      in[1] = from[1];
      if (own_bias) continue;
      in.resize(2);
      in.insert(in.end(), from.begin() + 2, from.end());
    }
  }
}

// In pairs: whose result, whose weights.
template <StepId... ids>
void with_weights_of(Forms& forms) {
  constexpr std::array all{ids...};
  Sources sources;
  for (std::size_t i = 0; i < all.size(); i += 2) sources.emplace_back(projection_of(all[i]), projection_of(all[i + 1]));
  with_weights_of_another(forms, sources);
}

// K and V from X instead of X_kv; exchanged: and Q from X_kv.
void other_inputs(Forms& forms, bool exchanged) {
  const Problem& problem = forms.problem;
  if (!problem.X_kv) return;
  PlanEditor& edit = forms.add();
  const ValueId X = edit.value(StepId::X), X_kv = edit.step(product_of(K_projection, problem)).in[0];
  for (const Projection& projection : {K_projection, V_projection}) edit.step(product_of(projection, problem)).in[0] = X;
  if (exchanged) edit.step(product_of(Q_projection, problem)).in[0] = X_kv;
}

// The input itself in place of its projection: cut into heads where its width is that of all heads, or given to each head.
bool leave_out(PlanEditor& edit, const Problem& problem, const Projection& projection) {
  const Step product = edit.step(product_of(projection, problem));
  const ValueId input = product.in[0];
  const Index width = edit.operand(input).shape.cols;
  const Shape W = weights_of(projection, problem).shape();
  const bool as_wide_as_all_heads = width == W.cols, as_wide_as_each = width * problem.*projection.heads == W.cols;
  if (!as_wide_as_all_heads && !as_wide_as_each) return false;
  if (problem.packed && !as_wide_as_all_heads) return false;
  const bool cut = !problem.packed && as_wide_as_all_heads;
  edit.replace({cut ? Op::split : Op::copy, product.id, {input}});
  return true;
}

void not_projected(Forms& forms, const Projections& which) {
  if (forms.problem.heads != forms.problem.kv_heads && which.size() > 1) return;
  PlanEditor& edit = forms.add();
  for (const Projection& projection : which)
    if (!leave_out(edit, forms.problem, projection)) return forms.none();
}

void relu_projection(Forms& forms) {
  PlanEditor& edit = forms.add();
  for (const Projection& projection : projections) edit.append(relu(product_of(projection, forms.problem)));
}

void layer_reads_x(Forms& forms) {
  const auto& earlier = forms.problem.earlier;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    if (!(earlier[i]->shape() == forms.problem.X.shape())) continue;
    PlanEditor& edit = forms.add(i == 0 ? "" : fmt::format("X_{}", i));
    edit.read_instead(edit.value(StepId::X), edit.constant("X", *earlier[i]), {});
  }
}

// W_QKV or b_QKV: what all three projections have, side by side.
Tensor fused(const std::array<Tensor, 3>& parts) {
  Index width = 0;
  for (const Tensor& part : parts) width += part.shape().cols;
  const Index rows = parts[0].shape().rows;
  Tensor result({1, 1, rows, width});
  for (Index r = 0; r < rows; ++r) {
    double* out = result.data() + r * width;
    for (const Tensor& part : parts) out = std::copy_n(part.data() + r * part.shape().cols, part.shape().cols, out);
  }
  return result;
}

// W_QKV and b_QKV read with these columns as W_Q, W_K and W_V.
void read_columns(PlanEditor& edit, const Problem& problem, const std::array<std::vector<Index>, 3>& chosen) {
  std::array<Tensor, 3> W, b;
  for (std::size_t p = 0; p < 3; ++p) W[p] = weights_of(projections[p], problem);
  const Tensor W_QKV = fused(W);
  for (std::size_t p = 0; p < 3; ++p) set_weights(edit, problem, projections[p], columns(W_QKV, chosen[p]));
  if (!problem.Q.b) return;
  for (std::size_t p = 0; p < 3; ++p) b[p] = bias_of(projections[p], problem).value();
  const Tensor b_QKV = fused(b);
  for (std::size_t p = 0; p < 3; ++p) set_bias(edit, problem, projections[p], columns(b_QKV, chosen[p]));
}

void packed_order(Forms& forms) {
  const Problem& problem = forms.problem;
  if (!problem.fused) return;
  std::array<std::size_t, 3> order = {0, 1, 2};
  while (std::next_permutation(order.begin(), order.end())) {
    std::array<std::vector<Index>, 3> chosen;
    std::string detail;
    Index first = 0;
    for (const std::size_t p : order) {
      chosen[p].resize(static_cast<std::size_t>(problem.*projections[p].heads * problem.d_k()));
      std::iota(chosen[p].begin(), chosen[p].end(), first);
      first += static_cast<Index>(chosen[p].size());
      detail += (detail.empty() ? "W_QKV = " : " | ") + std::string(name_of(projections[p].id).symbol);
    }
    read_columns(forms.add(detail), problem, chosen);
  }
}

void packed_interleaved(Forms& forms) {
  const Problem& problem = forms.problem;
  if (!problem.fused || problem.heads != problem.kv_heads) return;
  std::array<std::vector<Index>, 3> chosen;
  for (Index head = 0; head < problem.heads; ++head)
    for (std::size_t p = 0; p < 3; ++p)
      for (Index c = 0; c < problem.d_k(); ++c) chosen[p].push_back((head * 3 + static_cast<Index>(p)) * problem.d_k() + c);
  read_columns(forms.add(), problem, chosen);
}

constexpr std::array projection_rows = {
    Mistake("weights_transposed", StepId::Q, 'A', of<weights_transposed, StepId::Q, StepId::K, StepId::V>,
            "X was multiplied by the transposed weights Wᵀ: a token is a row here, so the product is X·W",
            "X 乘的是转置后的权重矩阵 Wᵀ：这里每个词元是一行，应当计算 X·W"),
    Mistake("weights_transposed_q", StepId::Q, 'C', of<weights_transposed, StepId::Q>,
            "Q was computed with the transposed W_Q: it is X·W_Q, not X·W_Qᵀ",
            "计算 Q 时 W_Q 被转置：应为 X·W_Q，而不是 X·W_Qᵀ"),
    Mistake("weights_transposed_k", StepId::K, 'C', of<weights_transposed, StepId::K>,
            "K was computed with the transposed W_K: it is X·W_K, not X·W_Kᵀ",
            "计算 K 时 W_K 被转置：应为 X·W_K，而不是 X·W_Kᵀ"),
    Mistake("weights_transposed_v", StepId::V, 'C', of<weights_transposed, StepId::V>,
            "V was computed with the transposed W_V: it is X·W_V, not X·W_Vᵀ",
            "计算 V 时 W_V 被转置：应为 X·W_V，而不是 X·W_Vᵀ"),
    Mistake("bias_forgotten", StepId::Q, 'B', of<bias_forgotten, StepId::Q, StepId::K, StepId::V>,
            "the biases b_Q, b_K and b_V were left out: each is added to every row after the product with its W",
            "漏加了偏置 b_Q、b_K、b_V：乘完 W 之后，每一行都要加上对应的偏置"),
    Mistake("bias_forgotten_q", StepId::Q, 'B', of<bias_forgotten, StepId::Q>,
            "b_Q was left out: it is added to every row of X·W_Q", "漏加了 b_Q：X·W_Q 的每一行都要加上它"),
    Mistake("bias_forgotten_k", StepId::K, 'B', of<bias_forgotten, StepId::K>,
            "b_K was left out: it is added to every row of X·W_K", "漏加了 b_K：X·W_K 的每一行都要加上它"),
    Mistake("bias_forgotten_v", StepId::V, 'B', of<bias_forgotten, StepId::V>,
            "b_V was left out: it is added to every row of X·W_V", "漏加了 b_V：X·W_V 的每一行都要加上它"),
    Mistake("swap_qk", StepId::Q, 'C', with_weights_of<StepId::Q, StepId::K, StepId::K, StepId::Q>,
            "W_Q and W_K were exchanged: the queries come from W_Q and the keys from W_K",
            "W_Q 与 W_K 用反了：查询由 W_Q 得到，键由 W_K 得到"),
    Mistake("q_from_wk", StepId::Q, 'B', with_weights_of<StepId::Q, StepId::K>,
            "Q was computed with W_K: the queries have their own weights W_Q", "Q 用了 W_K 计算：查询有自己的权重矩阵 W_Q"),
    Mistake("q_from_wv", StepId::Q, 'B', with_weights_of<StepId::Q, StepId::V>,
            "Q was computed with W_V: the queries have their own weights W_Q", "Q 用了 W_V 计算：查询有自己的权重矩阵 W_Q"),
    Mistake("k_from_wq", StepId::K, 'B', with_weights_of<StepId::K, StepId::Q>,
            "K was computed with W_Q: the keys have their own weights W_K", "K 用了 W_Q 计算：键有自己的权重矩阵 W_K"),
    Mistake("k_from_wv", StepId::K, 'B', with_weights_of<StepId::K, StepId::V>,
            "K was computed with W_V: the keys have their own weights W_K", "K 用了 W_V 计算：键有自己的权重矩阵 W_K"),
    Mistake("v_from_wq", StepId::V, 'B', with_weights_of<StepId::V, StepId::Q>,
            "V was computed with W_Q: the values have their own weights W_V", "V 用了 W_Q 计算：值有自己的权重矩阵 W_V"),
    Mistake("swap_kv", StepId::K, 'B', with_weights_of<StepId::K, StepId::V, StepId::V, StepId::K>,
            "W_K and W_V were exchanged: the keys come from W_K and the values from W_V",
            "W_K 与 W_V 用反了：键由 W_K 得到，值由 W_V 得到"),
    Mistake("cross_kv_from_x", StepId::K, 'A', with<other_inputs, false>,
            "K and V were computed from X: in cross-attention only the queries come from X, keys and values from X_kv",
            "K 和 V 由 X 得到：交叉注意力中只有查询来自 X，键和值来自 X_kv"),
    Mistake("cross_swapped", StepId::Q, 'B', with<other_inputs, true>,
            "X and X_kv were exchanged: the queries come from X, keys and values from X_kv",
            "X 与 X_kv 用反了：查询来自 X，键和值来自 X_kv"),
    Mistake("packed_order", StepId::Q, 'B', packed_order,
            "W_QKV was cut in another order: its columns are all queries, then all keys, then all values",
            "W_QKV 的拆分顺序不对：各列依次是全部查询、全部键、全部值"),
    Mistake(
        "packed_interleaved", StepId::Q, 'B', packed_interleaved,
        "W_QKV was read as q, k, v of head 1, then of head 2, and so on: its columns are all queries, all keys, all values",
        "W_QKV 被读成先是头 1 的查询、键、值，再是头 2 的……：各列其实依次是全部查询、全部键、全部值"),
    Mistake("v_from_wk", StepId::V, 'C', with_weights_of<StepId::V, StepId::K>,
            "V was computed with W_K: the values have their own weights W_V", "V 用了 W_K 计算：值有自己的权重矩阵 W_V"),
    Mistake("one_projection", StepId::K, 'B', with_weights_of<StepId::K, StepId::Q, StepId::V, StepId::Q>,
            "one projection with W_Q served as Q, K and V: keys and values have their own weights W_K and W_V",
            "Q、K、V 共用了 W_Q 一个投影：键和值各有自己的权重矩阵 W_K、W_V"),
    Mistake("no_projection", StepId::Q, 'C', of<not_projected, StepId::Q, StepId::K, StepId::V>,
            "X itself was used as Q, K and V: each is a projection of X with its own weights",
            "直接把 X 当作 Q、K、V：三者都要用各自的权重矩阵对 X 作投影"),
    Mistake("v_not_projected", StepId::V, 'C', of<not_projected, StepId::V>, "X itself was used as V: the values are X·W_V",
            "直接把 X 当作 V：值应为 X·W_V"),
    Mistake("layer_reads_x", StepId::Q, 'A', layer_reads_x,
            "this layer read X, or what an earlier layer gives, again: each layer reads what the one before it gives",
            "这一层又读了 X，或更前面一层的输出：多层堆叠时，每一层读的是前一层的输出"),
    Mistake("relu_projection", StepId::Q, 'B', relu_projection,
            "negative entries of Q, K and V were set to 0 (relu): a projection has no activation function",
            "把 Q、K、V 中的负数置成了 0（ReLU）：投影之后没有激活函数"),
};

}  // namespace

const std::span<const Mistake> projection_mistakes = projection_rows;

}  // namespace mha::study
