// The names of the steps: one row for each id of the contract, read by plans, pages, files and options alike.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <optional>

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
};

struct StepName {
  StepId step;
  std::string_view id;      // in files and options
  std::string_view symbol;  // in formulas, without the head's number
  bool per_head;            // the symbol takes the head's number
  Text title;
  Text meaning;  // what the numbers say, in a few words

  constexpr StepName(StepId of, std::string_view name, std::string_view sign, bool each_head, Text heading, Text says)
      : step(of), id(name), symbol(sign), per_head(each_head), title(heading), meaning(says) {}
};

inline constexpr std::array step_names = {
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
};
inline constexpr std::size_t step_count = step_names.size();

constexpr const StepName& name_of(StepId step) {
  return step_names[static_cast<std::size_t>(step)];
}
// Of a stack there is one of these, whatever the layer.
constexpr bool is_of_no_layer(StepId step) {
  return step == StepId::X || step == StepId::final_norm;
}
// What a name means where norms stand behind their sublayers.
constexpr StepId placed(StepId step, bool behind) {
  if (behind && step == StepId::norm) return StepId::norm_behind;
  return behind && step == StepId::mlp_norm ? StepId::mlp_norm_behind : step;
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

// What a sheet's cells with the numbers of a step are called, where "A1" is a cell: "A1_weights"; X and Y by that alone.
// `head` is a number from 1, or nothing.
inline std::string cells_name(StepId step, const std::string& head = {}) {
  std::string name;
  for (const char c : name_of(step).symbol)
    if (c >= 'A' && c <= 'z') name += c;
  if (step == StepId::X || step == StepId::output) return name;
  name += head + "_" + std::string(name_of(step).id);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

constexpr bool is_packed(StepId step) {
  return step >= StepId::packed_Q && step <= StepId::packed_V;
}

}  // namespace mha
