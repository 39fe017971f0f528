// The names of the steps: one row for each id of the contract, read by plans, pages, files and options alike.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <span>

#include "core/text.hpp"

namespace mha {

// In the order of the computation. A norm has a place before its sublayer and one behind it, under one name.
enum class StepId {
  X,
  norm,
  packed_Q,
  packed_K,
  packed_V,
  Q,
  K,
  V,
  Q_rot,
  K_rot,
  scores,
  scaled,
  capped,
  masked,
  weights,
  head_output,
  concat,
  output,
  residual,
  norm_behind,
  mlp_norm,
  gate,
  hidden,
  activated,
  mlp,
  mlp_residual,
  mlp_norm_behind,
  final_norm,
  // Rows of a person's work on the way back: dL/d of these and of X_kv, each behind those from which it follows, and then
  // of the parameters.
  d_final_norm,
  d_mlp_norm_behind,
  d_mlp_residual,
  d_mlp,
  d_activated,
  d_gate,
  d_hidden,
  d_mlp_norm,
  d_norm_behind,
  d_residual,
  d_output,
  d_concat,
  d_head_output,
  d_weights,
  d_V,
  d_masked,
  d_capped,
  d_scaled,
  d_scores,
  d_Q_rot,
  d_K_rot,
  d_Q,
  d_K,
  d_packed_Q,
  d_packed_K,
  d_packed_V,
  d_norm,
  d_X,
  d_X_kv,
  d_W_Q,
  d_b_Q,
  d_W_K,
  d_b_K,
  d_W_V,
  d_b_V,
  d_packed_W_Q,
  d_packed_b_Q,
  d_packed_W_K,
  d_packed_b_K,
  d_packed_W_V,
  d_packed_b_V,
  d_W_QKV,
  d_b_QKV,
  d_W_O,
  d_b_O,
  d_norm_gamma,
  d_norm_beta,
  d_mlp_norm_gamma,
  d_mlp_norm_beta,
  d_W_gate,
  d_b_gate,
  d_W_1,
  d_b_1,
  d_W_2,
  d_b_2,
  d_final_norm_gamma,
  d_final_norm_beta,
};

struct StepName {
  StepId step;
  std::string_view id;      // in files and options
  std::string_view symbol;  // in formulas, without the head's number
  bool per_head;            // the symbol takes the head's number
  Text title = {};
  Text meaning = {};              // what the numbers say, in a few words
  std::optional<StepId> of = {};  // of a gradient: the step whose; of a parameter's nothing

  constexpr StepName(StepId of, std::string_view name, std::string_view sign, bool each_head, Text heading, Text says)
      : step(of), id(name), symbol(sign), per_head(each_head), title(heading), meaning(says) {}
  constexpr StepName(StepId own, StepId forward, std::string_view name, std::string_view sign, bool each_head = false)
      : step(own), id(name), symbol(sign), per_head(each_head), of(forward) {}
  constexpr StepName(StepId own, std::string_view name, std::string_view sign, bool each_head = false)
      : step(own), id(name), symbol(sign), per_head(each_head) {}
};

inline constexpr std::array row_names = {
    StepName(StepId::X, "X", "X", false, {"Input", "输入"}, {"one row for each token", "每个词元一行"}),
    StepName(StepId::norm, "norm", "N", false, {"Normalisation", "归一化"},
             {"each row to the same size, whatever came in", "不论输入大小，每一行都调整到同样的尺度"}),
    StepName(StepId::packed_Q, "packed.Q", "Q", false, {"Queries of all heads", "所有头的查询"},
             {"one large product, all heads side by side", "一次大的矩阵乘法，各头并排"}),
    StepName(StepId::packed_K, "packed.K", "K", false, {"Keys of all heads", "所有头的键"},
             {"one large product, all heads side by side", "一次大的矩阵乘法，各头并排"}),
    StepName(StepId::packed_V, "packed.V", "V", false, {"Values of all heads", "所有头的值"},
             {"one large product, all heads side by side", "一次大的矩阵乘法，各头并排"}),
    StepName(StepId::Q, "Q", "Q", true, {"Queries", "查询"}, {"what each token asks for", "每个词元想找什么"}),
    StepName(StepId::K, "K", "K", true, {"Keys", "键"}, {"what each token can be found by", "每个词元凭什么被找到"}),
    StepName(StepId::V, "V", "V", true, {"Values", "值"}, {"what each token passes on", "每个词元传递什么内容"}),
    StepName(StepId::Q_rot, "Q_rot", "Q̃", true, {"Rotated queries", "旋转后的查询"},
             {"each row turned by its position", "每一行按其位置旋转"}),
    StepName(StepId::K_rot, "K_rot", "K̃", true, {"Rotated keys", "旋转后的键"},
             {"each row turned by its position", "每一行按其位置旋转"}),
    StepName(StepId::scores, "scores", "S", true, {"Scores", "注意力分数"},
             {"how well each query fits each key", "每个查询与每个键有多匹配"}),
    StepName(StepId::scaled, "scaled", "Z", true, {"Scaled scores", "缩放后的分数"},
             {"kept small, so that softmax does not saturate", "把分数缩小，使 softmax 不致饱和"}),
    StepName(StepId::capped, "capped", "Z̃", true, {"Capped scores", "软截断后的分数"},
             {"squeezed smoothly into a fixed range", "平滑地压入固定范围"}),
    StepName(StepId::masked, "masked", "M", true, {"Masked scores", "掩码后的分数"},
             {"−∞ where a query may not look", "查询不得看的位置为 −∞"}),
    StepName(StepId::weights, "weights", "A", true, {"Weights", "注意力权重"},
             {"who listens to whom: each row sums to 1", "谁关注谁：每一行之和为 1"}),
    StepName(StepId::head_output, "head_output", "head", true, {"Head output", "注意力头的输出"},
             {"each token's weighted mean of the values", "每个词元得到值的加权平均"}),
    StepName(StepId::concat, "concat", "Concat", false, {"Concatenation", "拼接"},
             {"the heads side by side, in their order", "各头的输出按顺序并排"}),
    StepName(StepId::output, "output", "Y", false, {"Output projection", "输出投影"},
             {"mixes what the heads found", "把各头的结果混合起来"}),
    StepName(StepId::residual, "residual", "R", false, {"Residual sum", "残差相加"},
             {"what came in is kept, the attention adds to it", "保留输入，注意力在其上添加"}),
    StepName(StepId::norm_behind, "norm", "N", false, {"Normalisation", "归一化"},
             {"each row to the same size, whatever came in", "不论输入大小，每一行都调整到同样的尺度"}),
    StepName(StepId::mlp_norm, "mlp_norm", "N′", false, {"Normalisation of the MLP", "MLP 的归一化"},
             {"each row to the same size, whatever came in", "不论输入大小，每一行都调整到同样的尺度"}),
    StepName(StepId::gate, "gate", "G", false, {"Gate", "门控"},
             {"how far each hidden unit opens", "每个隐藏单元打开多少"}),
    StepName(StepId::hidden, "hidden", "H", false, {"Hidden layer", "隐藏层"},
             {"each token by itself, in the width of the MLP", "每个词元各自映射到 MLP 的宽度"}),
    StepName(StepId::activated, "activated", "U", false, {"Activation", "激活"},
             {"the bend without which two products would be one", "没有这一弯折，两次乘法等于一次"}),
    StepName(StepId::mlp, "mlp", "F", false, {"Output of the MLP", "MLP 的输出"},
             {"back to the width of the tokens", "回到词元的宽度"}),
    StepName(StepId::mlp_residual, "mlp_residual", "R′", false, {"Residual sum of the MLP", "MLP 的残差相加"},
             {"what came in is kept, the MLP adds to it", "保留输入，MLP 在其上添加"}),
    StepName(StepId::mlp_norm_behind, "mlp_norm", "N′", false, {"Normalisation of the MLP", "MLP 的归一化"},
             {"each row to the same size, whatever came in", "不论输入大小，每一行都调整到同样的尺度"}),
    StepName(StepId::final_norm, "final_norm", "N*", false, {"Final normalisation", "最后的归一化"},
             {"each row of the last result to the same size", "最后结果的每一行调整到同样的尺度"}),
    StepName(StepId::d_final_norm, StepId::final_norm, "dfinal_norm", "dN*"),
    StepName(StepId::d_mlp_norm_behind, StepId::mlp_norm_behind, "dmlp_norm", "dN′"),
    StepName(StepId::d_mlp_residual, StepId::mlp_residual, "dmlp_residual", "dR′"),
    StepName(StepId::d_mlp, StepId::mlp, "dmlp", "dF"),
    StepName(StepId::d_activated, StepId::activated, "dactivated", "dU"),
    StepName(StepId::d_gate, StepId::gate, "dgate", "dG"),
    StepName(StepId::d_hidden, StepId::hidden, "dhidden", "dH"),
    StepName(StepId::d_mlp_norm, StepId::mlp_norm, "dmlp_norm", "dN′"),
    StepName(StepId::d_norm_behind, StepId::norm_behind, "dnorm", "dN"),
    StepName(StepId::d_residual, StepId::residual, "dresidual", "dR"),
    StepName(StepId::d_output, StepId::output, "doutput", "dY"),
    StepName(StepId::d_concat, StepId::concat, "dconcat", "dConcat"),
    StepName(StepId::d_head_output, StepId::head_output, "dhead_output", "dhead", true),
    StepName(StepId::d_weights, StepId::weights, "dweights", "dA", true),
    StepName(StepId::d_V, StepId::V, "dV", "dV", true),
    StepName(StepId::d_masked, StepId::masked, "dmasked", "dM", true),
    StepName(StepId::d_capped, StepId::capped, "dcapped", "dZ̃", true),
    StepName(StepId::d_scaled, StepId::scaled, "dscaled", "dZ", true),
    StepName(StepId::d_scores, StepId::scores, "dscores", "dS", true),
    StepName(StepId::d_Q_rot, StepId::Q_rot, "dQ_rot", "dQ̃", true),
    StepName(StepId::d_K_rot, StepId::K_rot, "dK_rot", "dK̃", true),
    StepName(StepId::d_Q, StepId::Q, "dQ", "dQ", true),
    StepName(StepId::d_K, StepId::K, "dK", "dK", true),
    StepName(StepId::d_packed_Q, StepId::packed_Q, "dpacked.Q", "dQ"),
    StepName(StepId::d_packed_K, StepId::packed_K, "dpacked.K", "dK"),
    StepName(StepId::d_packed_V, StepId::packed_V, "dpacked.V", "dV"),
    StepName(StepId::d_norm, StepId::norm, "dnorm", "dN"),
    StepName(StepId::d_X, StepId::X, "dX", "dX"),
    StepName(StepId::d_X_kv, "dX_kv", "dX_kv"),
    StepName(StepId::d_W_Q, "dW_Q", "dW_Q", true),
    StepName(StepId::d_b_Q, "db_Q", "db_Q", true),
    StepName(StepId::d_W_K, "dW_K", "dW_K", true),
    StepName(StepId::d_b_K, "db_K", "db_K", true),
    StepName(StepId::d_W_V, "dW_V", "dW_V", true),
    StepName(StepId::d_b_V, "db_V", "db_V", true),
    StepName(StepId::d_packed_W_Q, "dW_Q", "dW_Q"),
    StepName(StepId::d_packed_b_Q, "db_Q", "db_Q"),
    StepName(StepId::d_packed_W_K, "dW_K", "dW_K"),
    StepName(StepId::d_packed_b_K, "db_K", "db_K"),
    StepName(StepId::d_packed_W_V, "dW_V", "dW_V"),
    StepName(StepId::d_packed_b_V, "db_V", "db_V"),
    StepName(StepId::d_W_QKV, "dW_QKV", "dW_QKV"),
    StepName(StepId::d_b_QKV, "db_QKV", "db_QKV"),
    StepName(StepId::d_W_O, "dW_O", "dW_O"),
    StepName(StepId::d_b_O, "db_O", "db_O"),
    StepName(StepId::d_norm_gamma, "dnorm.gamma", "dγ"),
    StepName(StepId::d_norm_beta, "dnorm.beta", "dβ"),
    StepName(StepId::d_mlp_norm_gamma, "dmlp_norm.gamma", "dγ′"),
    StepName(StepId::d_mlp_norm_beta, "dmlp_norm.beta", "dβ′"),
    StepName(StepId::d_W_gate, "dmlp.W_gate", "dW_gate"),
    StepName(StepId::d_b_gate, "dmlp.b_gate", "db_gate"),
    StepName(StepId::d_W_1, "dmlp.W_1", "dW_1"),
    StepName(StepId::d_b_1, "dmlp.b_1", "db_1"),
    StepName(StepId::d_W_2, "dmlp.W_2", "dW_2"),
    StepName(StepId::d_b_2, "dmlp.b_2", "db_2"),
    StepName(StepId::d_final_norm_gamma, "dfinal_norm.gamma", "dγ*"),
    StepName(StepId::d_final_norm_beta, "dfinal_norm.beta", "dβ*"),
};
inline constexpr std::size_t row_count = row_names.size();
// Those of the forward pass.
inline constexpr std::size_t step_count = static_cast<std::size_t>(StepId::d_final_norm);
inline constexpr std::span<const StepName, step_count> step_names{row_names.data(), step_count};

constexpr const StepName& name_of(StepId step) {
  return row_names[static_cast<std::size_t>(step)];
}
constexpr bool is_gradient(StepId step) {
  return step >= StepId::d_final_norm;
}
// dL/d of a parameter: nothing follows from it, and with a batch it is of all items.
constexpr bool is_of_parameter(StepId step) {
  return step > StepId::d_X_kv;
}
constexpr StepId gradient_of(StepId step) {
  for (const StepName& name : row_names)
    if (name.of == step) return name.step;
  return step;
}
// Of a stack there is one of these, whatever the layer.
constexpr bool is_of_no_layer(StepId step) {
  return step == StepId::X || step == StepId::final_norm || step == StepId::d_X || step == StepId::d_final_norm ||
         step >= StepId::d_final_norm_gamma;
}
// What the name of a norm means where norms stand before their sublayers, or behind.
constexpr StepId placed(StepId step, bool behind) {
  constexpr std::array<std::array<StepId, 2>, 4> norms = {{{StepId::norm, StepId::norm_behind},
                                                           {StepId::mlp_norm, StepId::mlp_norm_behind},
                                                           {StepId::d_norm, StepId::d_norm_behind},
                                                           {StepId::d_mlp_norm, StepId::d_mlp_norm_behind}}};
  for (const auto& places : norms)
    if (step == places[0] || step == places[1]) return places[behind ? 1 : 0];
  return step;
}
// A step where it stands.
struct LayerStep {
  std::optional<int> layer = {};  // from 0; nothing where there is no stack
  StepId step = StepId::X;

  std::optional<int> own_layer() const { return is_of_no_layer(step) ? std::nullopt : layer; }
  // "weights", "layer2.weights": files count from 1.
  std::string id() const {
    return (own_layer() ? "layer" + std::to_string(*layer + 1) + "." : "") + std::string(name_of(step).id);
  }
  auto operator<=>(const LayerStep&) const = default;
};

// What a sheet's cells with the numbers of a step are called, where "A1" is a cell: "A1_weights"; X and Y by that alone;
// gradients "dA1_weights", "dW_Q1", "dmlp_W_1". `head` is a number from 1, or nothing.
inline std::string cells_name(StepId step, const std::string& head = {}) {
  if (name_of(step).of) return "d" + cells_name(*name_of(step).of, head);
  std::string name;
  if (is_gradient(step)) {
    name = std::string(name_of(step).id) + head;
  } else {
    for (const char c : name_of(step).symbol)
      if (c >= 'A' && c <= 'z') name += c;
    if (step == StepId::X || step == StepId::output) return name;
    name += head + "_" + std::string(name_of(step).id);
  }
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

constexpr bool is_packed(StepId step) {
  return (step >= StepId::packed_Q && step <= StepId::packed_V) ||
         (step >= StepId::d_packed_Q && step <= StepId::d_packed_V);
}

}  // namespace mha
