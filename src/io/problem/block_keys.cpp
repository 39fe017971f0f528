// The keys of a block and of a stack: residual sums, norms, the MLP, and the layers.

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

constexpr std::string_view norm_kinds[] = {"layer", "rms"};
constexpr std::string_view norm_places[] = {"pre", "post"};

// What norms and residual sums join.
constexpr Text attention_input = {"what the attention reads", "注意力的输入"};
constexpr Text attention_output = {"what the attention gives", "注意力的输出"};
constexpr Text mlp_input = {"what the MLP reads", "MLP 的输入"};
constexpr Text mlp_output = {"what the MLP gives", "MLP 的输出"};
constexpr Text result = {"the result", "最后结果"};

std::optional<Tensor> read_vector(Node* node, Index size, const Text& of) {
  if (node == nullptr) return std::nullopt;
  const Index found = expect_vector(*node);
  if (found != size)
    fail(*node, {"{}, expected {}, one for each column of {}", "有{}，应有 {}，{}的每一列一个"}, counted(found, "number"),
         size, of);
  return take_tensor(*node, {1, 1, 1, size});
}

// A residual sum joins two of one width.
void expect_one_width(const Node& node, const Text& in, Index in_width, const Text& out, Index out_width) {
  if (in_width == out_width) return;
  fail(node, {"{} has {}, {} {}: a residual sum needs both of one width", "{}有{}，{}有{}：残差相加要求两者宽度相同"}, in,
       counted(in_width, "column"), out, counted(out_width, "column"));
}

NormRule read_norm(Node& node, Index width, const Text& of) {
  const Fields fields(
      node, norm_keys,
      {"a norm: {\"kind\": \"layer\"} or {\"kind\": \"rms\"}", "归一化：{\"kind\": \"layer\"} 或 {\"kind\": \"rms\"}"});
  const Node* const kind = fields["kind"];
  if (kind == nullptr)
    fail(node, {"\"kind\" is missing; write \"kind\": \"layer\" or \"kind\": \"rms\"",
                "缺少 \"kind\"；请写 \"kind\": \"layer\" 或 \"kind\": \"rms\""});
  NormRule norm;
  norm.rule.kind = static_cast<Norm::Kind>(expect_choice(*kind, norm_kinds));
  if (const Node* eps = fields["eps"]) norm.rule.eps = expect_number(*eps);
  if (norm.rule.eps < 0)
    fail(*fields["eps"], {"found {}, expected a number from 0 on", "读到 {}，应为不小于 0 的数"}, norm.rule.eps);
  if (const Node* beta = fields["beta"]; beta != nullptr && norm.rule.kind == Norm::Kind::rms)
    fail(*beta, {"an rms norm takes no mean off and has no beta; leave it out, or write \"kind\": \"layer\"",
                 "RMS 归一化不减均值，也没有 beta；请去掉它，或写 \"kind\": \"layer\""});
  norm.gamma = read_vector(fields["gamma"], width, of);
  norm.beta = read_vector(fields["beta"], width, of);
  return norm;
}

// A matrix of the MLP, with its bias.
Linear read_layer(const Fields& fields, std::string_view name, const OperandShape& operand, Layout layout) {
  Node* const W = fields[fmt::format("W_{}", name)];
  if (W == nullptr)
    fail(fields.node(), {"\"W_{}\" is missing here; an MLP needs W_1 and W_2", "这里缺少 \"W_{}\"；MLP 需要 W_1 和 W_2"},
         name);
  return take_linear({name, "f", {W}, {fields[fmt::format("b_{}", name)]}, false}, operand, layout);
}

}  // namespace

void read_residual(Node& node, Problem& problem) {
  problem.residual = expect_truth(node);
  if (problem.residual) expect_one_width(node, attention_input, problem.d_model(), attention_output, problem.d_out());
}

void read_norm_place(Node& node, Problem& problem) {
  problem.norm_place = static_cast<NormPlace>(expect_choice(node, norm_places));
}

void read_attention_norm(Node& node, Problem& problem) {
  problem.norm = problem.is_post_norm() ? read_norm(node, problem.d_out(), attention_output)
                                        : read_norm(node, problem.d_model(), attention_input);
}

void read_mlp(Node& node, Problem& problem) {
  const Fields fields(
      node, mlp_keys,
      {"an MLP: {\"W_1\": …, \"activation\": …, \"W_2\": …}", "一个 MLP：{\"W_1\": …, \"activation\": …, \"W_2\": …}"});
  Mlp mlp;
  const Node* const activation = fields["activation"];
  if (activation == nullptr)
    fail(node, {"\"activation\" is missing; write one of {}", "缺少 \"activation\"；请写 {} 之一"},
         fmt::join(activation_names, ", "));
  mlp.activation = static_cast<Activation>(expect_choice(*activation, activation_names));
  const OperandShape x{mlp_input, problem.queries(), problem.d_out()};
  mlp.first = read_layer(fields, "1", x, problem.layout);
  const Index f = width_of(mlp.first.W.shape(), problem.layout);
  if (fields["W_gate"] != nullptr) {
    mlp.gate = read_layer(fields, "gate", x, problem.layout);
    if (const Index width = width_of(mlp.gate->W.shape(), problem.layout); width != f)
      fail(*fields["W_gate"],
           {"W_gate gives {} and W_1 gives {}; they are multiplied entry by entry",
            "W_gate 给出{}，W_1 给出{}；两者要逐个元素相乘"},
           counted(width, "column"), counted(f, "column"));
  } else if (const Node* b = fields["b_gate"]) {
    fail(*b, {"b_gate goes with W_gate, and there is none", "b_gate 与 W_gate 同用，而这里没有 W_gate"});
  }
  mlp.second = read_layer(fields, "2", {{"the activation", "激活的结果"}, problem.queries(), f}, problem.layout);
  if (problem.residual)
    expect_one_width(*fields["W_2"], mlp_input, problem.d_out(), mlp_output,
                     width_of(mlp.second.W.shape(), problem.layout));
  problem.mlp = std::move(mlp);
}

void read_mlp_norm(Node& node, Problem& problem) {
  if (!problem.mlp)
    fail(node, {"mlp_norm is the norm of an MLP, and there is no \"mlp\"", "mlp_norm 是 MLP 的归一化，而这里没有 \"mlp\""});
  problem.mlp_norm = problem.is_post_norm() ? read_norm(node, problem.d_result(), mlp_output)
                                            : read_norm(node, problem.d_out(), mlp_input);
}

void read_final_norm(Node& node, Problem& problem) {
  problem.final_norm = read_norm(node, problem.d_result(), result);
}

void check_norm_place(const Fields& fields, const Problem& problem) {
  if (problem.norm_place && !problem.norm && !problem.mlp_norm)
    fail(*fields["norm_place"], {"norm_place says where norms stand, and there is neither a \"norm\" nor an \"mlp_norm\"",
                                 "norm_place 说明归一化的位置，而这里既没有 \"norm\" 也没有 \"mlp_norm\""});
}

void write_norm_place(const ProblemPen& pen) {
  const bool has_norm = pen.problem.norm || pen.problem.mlp_norm;
  if (pen.problem.norm_place || (pen.resolved && has_norm))
    pen.json.text("norm_place", norm_places[pen.problem.is_post_norm() ? 1 : 0]);
}

void write_norm(const ProblemPen& pen, std::string_view key, const std::optional<NormRule>& norm) {
  if (!norm) return;
  pen.json.begin_object(key, Spread::line);
  pen.json.text("kind", norm_kinds[static_cast<std::size_t>(norm->rule.kind)]);
  if (!pen.resolved) write_parameters_of(pen, key);
  if (pen.resolved || norm->rule.eps != Norm{}.eps) pen.json.number("eps", norm->rule.eps);
  pen.json.end();
}

void write_mlp(const ProblemPen& pen) {
  if (!pen.problem.mlp) return;
  const Mlp& mlp = *pen.problem.mlp;
  pen.json.begin_object("mlp");
  if (pen.resolved) pen.json.integer("f", pen.problem.mlp_width());
  pen.json.text("activation", activation_names[static_cast<std::size_t>(mlp.activation)]);
  if (pen.resolved && mlp.gate) pen.json.boolean("gate", true);
  if (!pen.resolved) write_parameters_of(pen, "mlp");
  pen.json.end();
}

}  // namespace mha::io
