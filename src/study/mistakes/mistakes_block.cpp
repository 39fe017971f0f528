// Mistakes around the attention: norms, residual sums and the MLP.

#include "study/mistakes/forms.hpp"

namespace mha::study {
namespace {

constexpr std::array norm_steps = {StepId::norm, StepId::norm_behind, StepId::mlp_norm, StepId::mlp_norm_behind,
                                   StepId::final_norm};
constexpr std::array residual_steps = {StepId::residual, StepId::mlp_residual};
constexpr std::array mlp_products = {StepId::gate, StepId::hidden, StepId::mlp};

// One form for each of these steps that the problem has, and one in which all of them are made; change(edit, step) makes it
// and says whether it could.
template <typename Steps, typename Change>
void each_and_all(Forms& forms, const Steps& steps, Change change) {
  std::vector<StepId> made;
  for (const StepId id : steps) {
    if (!forms.has(id)) continue;
    PlanEditor probe(forms.right);
    if (change(probe, id)) made.push_back(id);
  }
  if (made.size() > 1) {
    PlanEditor& all = forms.add();
    for (const StepId id : made) change(all, id);
  }
  for (const StepId id : made) change(forms.add(made.size() > 1 ? std::string(name_of(id).symbol) : ""), id);
}

template <typename Change>
void each_norm(Forms& forms, Change change) {
  each_and_all(forms, norm_steps, [&](PlanEditor& edit, StepId id) { return change(edit.step(id)); });
}

void residual_forgotten(Forms& forms) {
  each_and_all(forms, residual_steps, [](PlanEditor& edit, StepId id) {
    edit.replace({Op::copy, id, {edit.step(id).in[1]}});
    return true;
  });
}

// (x + Concat)·W_O
void residual_before_projection(Forms& forms) {
  if (!forms.has(StepId::residual)) return;
  PlanEditor& edit = forms.add();
  const ValueId x = edit.step(StepId::residual).in[0];
  const Step output = edit.step(StepId::output);
  if (output.op != Op::product || !(edit.operand(output.in[0]).shape == edit.operand(x).shape)) return forms.none();
  const ValueId sum = edit.insert({Op::add, StepId::output, {x, output.in[0]}});
  edit.step(StepId::output).in[0] = sum;
  edit.replace({Op::copy, StepId::residual, {edit.value(StepId::output)}});
}

// What is added is the normalised copy (post: the sum before its norm), what came into the layer instead of what came into
// the MLP, or what came into an earlier layer.
void residual_of_other(Forms& forms) {
  const auto with = [&](StepId residual, ValueId other, std::string detail) {
    if (PlanEditor& edit = forms.add(std::move(detail)); edit.step(residual).in[0] != other)
      edit.step(residual).in[0] = other;
    else
      forms.take_back();
  };
  PlanEditor right(forms.right);
  for (const auto& [residual, norm] : {std::pair(StepId::residual, StepId::norm), {StepId::mlp_residual, StepId::mlp_norm}})
    if (forms.has(residual) && forms.has(norm) && !forms.problem.is_post_norm())
      with(residual, right.value(norm), std::string(name_of(norm).symbol));
  for (std::size_t i = 0; i < forms.problem.earlier.size(); ++i)
    for (const StepId residual : residual_steps) {
      const Tensor& other = *forms.problem.earlier[i];
      if (!forms.has(residual) || !(other.shape() == right.operand(right.value(residual)).shape)) continue;
      PlanEditor& edit = forms.add(fmt::format("X_{}", i));
      edit.step(residual).in[0] = edit.constant("X", other);
    }
  if (!forms.has(StepId::residual) || !forms.has(StepId::mlp_residual)) return;
  const ValueId x = right.step(StepId::residual).in[0];
  if (right.operand(x).shape == right.operand(right.value(StepId::mlp)).shape) with(StepId::mlp_residual, x, "X");
  if (forms.has(StepId::norm_behind)) with(StepId::mlp_residual, right.value(StepId::residual), "R");
}

void norm_missing(Forms& forms) {
  each_and_all(forms, norm_steps, [](PlanEditor& edit, StepId id) {
    edit.leave_out(id);
    return true;
  });
}

// Before and behind their sublayers exchanged: what read the norm reads what the norm read, and the other way round.
void norm_place_exchanged(Forms& forms) {
  const bool post = forms.problem.is_post_norm();
  if (!forms.problem.residual || !forms.has(placed(StepId::norm, post))) return;
  PlanEditor& edit = forms.add();
  for (const auto& [name, residual] :
       {std::pair(StepId::norm, StepId::residual), {StepId::mlp_norm, StepId::mlp_residual}}) {
    const StepId norm = placed(name, post);
    if (!edit.has(norm) || !edit.has(residual)) continue;
    const ValueId normed = edit.value(norm), sum = edit.value(residual);
    const ValueId x = post ? edit.step(residual).in[0] : edit.step(norm).in[0];
    if (post) {
      edit.read_instead(normed, sum, {});
      edit.read_instead(x, normed, {residual});
      edit.step(norm).in[0] = x;
      edit.move_before_first_reader(norm);
    } else {
      edit.read_instead(normed, x, {});
      edit.read_instead(sum, normed, {});
      edit.step(norm).in[0] = sum;
      edit.move_behind(norm, residual);
    }
  }
}

void norm_variance_of_sample(Forms& forms) {
  each_norm(forms, [](Step& step) {
    if (step.norm.kind == Norm::Kind::layer) step.norm.sample_variance = true;
    return step.norm.kind == Norm::Kind::layer;
  });
}

void norm_eps_outside(Forms& forms) {
  each_norm(forms, [](Step& step) {
    if (step.norm.eps != 0) step.norm.eps_outside = true;
    return step.norm.eps != 0;
  });
}

void norm_eps_forgotten(Forms& forms) {
  each_norm(forms, [](Step& step) { return std::exchange(step.norm.eps, 0) != 0; });
}

void norm_over_tokens(Forms& forms) {
  each_norm(forms, [](Step& step) { return step.norm.by_column = true; });
}

// The one kind of norm instead of the other.
void norm_of_other_kind(Forms& forms, Norm::Kind right) {
  each_norm(forms, [right](Step& step) {
    const bool is_right = step.norm.kind == right;
    step.norm.kind = right == Norm::Kind::layer ? Norm::Kind::rms : Norm::Kind::layer;
    return is_right;
  });
}

void norm_gamma_forgotten(Forms& forms) {
  each_and_all(forms, norm_steps, [](PlanEditor& edit, StepId id) {
    Step& step = edit.step(id);
    if (step.in.size() < 2) return false;
    if (step.in.size() == 2) return step.in.pop_back(), true;
    Tensor ones(edit.operand(step.in[1]).shape);
    ones.fill(1);
    step.in[1] = edit.constant("1", std::move(ones));
    return true;
  });
}

void norm_beta_forgotten(Forms& forms) {
  each_norm(forms, [](Step& step) { return step.in.size() > 2 && (step.in.pop_back(), true); });
}

// No bend, or another one.
void activate_by(Forms& forms, Activation activation) {
  if (!forms.has(StepId::activated)) return;
  PlanEditor& edit = forms.add();
  if (edit.step(StepId::activated).activation == activation) return forms.none();
  edit.step(StepId::activated).activation = activation;
}

bool has_gate(const Forms& forms) {
  return forms.problem.mlp && forms.problem.mlp->gate;
}

void gelu_form(Forms& forms) {
  if (!forms.problem.mlp) return;
  if (forms.problem.mlp->activation == Activation::gelu) activate_by(forms, Activation::gelu_tanh);
  if (forms.problem.mlp->activation == Activation::gelu_tanh) activate_by(forms, Activation::gelu);
}

void activation_missing(Forms& forms) {
  if (!has_gate(forms)) activate_by(forms, Activation::none);
}

void gate_not_activated(Forms& forms) {
  if (has_gate(forms)) activate_by(forms, Activation::none);
}

void relu_for_other(Forms& forms) {
  activate_by(forms, Activation::relu);
}

void gelu_for_other(Forms& forms) {
  if (forms.problem.mlp && forms.problem.mlp->activation != Activation::gelu_tanh) activate_by(forms, Activation::gelu);
}

// Their results, or W_gate and W_1 with their biases.
void gate_exchanged(Forms& forms) {
  if (!has_gate(forms)) return;
  Step& step = forms.add().step(StepId::activated);
  std::swap(step.in[0], step.in[1]);
  PlanEditor& edit = forms.add("W_gate ↔ W_1");
  std::swap(edit.step(StepId::gate).in, edit.step(StepId::hidden).in);
}

void mlp_bias_forgotten(Forms& forms) {
  each_and_all(forms, mlp_products, [](PlanEditor& edit, StepId id) {
    Step& step = edit.step(id);
    if (step.in.size() < 3) return false;
    step.in.pop_back();
    return true;
  });
}

constexpr std::array block_rows = {
    Mistake("residual_forgotten", StepId::residual, 'A', residual_forgotten,
            "the residual sum was left out: what came in is added to what the sublayer gives",
            "漏了残差连接：子层的结果要加上它的输入"),
    Mistake("residual_before_projection", StepId::output, 'C', residual_before_projection,
            "the input was added before W_O: first Concat·W_O, then the residual sum",
            "在乘 W_O 之前就加上了输入：应先算 Concat·W_O，再做残差相加"),
    Mistake(
        "residual_of_other", StepId::residual, 'B', residual_of_other,
        "the residual sum added something else than what came in: it is the sublayer's own input, with norms before the "
        "sublayers (pre) as it was before its norm",
        "残差相加时加错了对象：要加的是这个子层自己的输入，先做归一化（pre）时取归一化之前的"),
    Mistake("norm_missing", StepId::norm, 'A', norm_missing,
            "a norm was left out: each row is brought to mean 0 and variance 1 (rms: mean square 1) there",
            "漏了归一化：这里每一行要化为均值 0、方差 1（rms：均方为 1）"),
    Mistake(
        "norm_place_exchanged", StepId::norm, 'A', norm_place_exchanged,
        "the norms stand on the other side of their sublayers: pre is before the sublayer, post behind the residual sum",
        "归一化放在了子层的另一侧：pre 在子层之前，post 在残差相加之后"),
    Mistake("norm_mean_kept", StepId::norm, 'B', with<norm_of_other_kind, Norm::Kind::layer>,
            "the mean was not taken off: layer norm is (x − mean)/√(variance + eps)",
            "没有减去均值 μ：层归一化是 (x − μ)/√(σ² + eps)"),
    Mistake("norm_mean_taken", StepId::norm, 'B', with<norm_of_other_kind, Norm::Kind::rms>,
            "the mean was taken off: rms norm is x/√(mean of x² + eps), without a mean and a variance",
            "减去了均值：RMS 归一化是 x/√(x² 的均值 + eps)，不用均值和方差"),
    Mistake("norm_variance_of_sample", StepId::norm, 'A', norm_variance_of_sample,
            "the variance was divided by d − 1: in a norm it is divided by d", "方差除以了 d − 1：归一化里应除以 d"),
    Mistake("norm_eps_outside", StepId::norm, 'C', norm_eps_outside,
            "eps was added behind the root: it stands inside, √(variance + eps)",
            "eps 加在了根号外面：应在根号里面，√(σ² + eps)"),
    Mistake("norm_eps_forgotten", StepId::norm, 'C', norm_eps_forgotten,
            "eps was left out: it is added to the variance before the root, √(variance + eps)",
            "漏加了 eps：开方之前方差要加上 eps，√(σ² + eps)"),
    Mistake("norm_over_tokens", StepId::norm, 'B', norm_over_tokens,
            "each column was normalised, over the tokens: a norm is taken of each row, over the entries of one token",
            "对每一列（跨词元）做了归一化：应对每一行，即每个词元自己的各个元素"),
    Mistake("norm_gamma_forgotten", StepId::norm, 'B', norm_gamma_forgotten,
            "gamma was left out: each column of the normalised rows is multiplied by its own",
            "漏乘了 gamma：归一化后的每一列要乘以各自的 gamma"),
    Mistake("norm_beta_forgotten", StepId::norm, 'B', norm_beta_forgotten,
            "beta was left out: each column of the normalised rows has its own added",
            "漏加了 beta：归一化后的每一列要加上各自的 beta"),
    Mistake("mlp_bias_forgotten", StepId::hidden, 'B', mlp_bias_forgotten,
            "a bias of the MLP was left out: b is added to every row of x·W", "漏加了 MLP 的偏置：x·W 的每一行都要加上 b"),
    Mistake("activation_missing", StepId::activated, 'A', activation_missing,
            "the activation was left out: between W_1 and W_2 each entry is bent, or the two would be one product",
            "漏了激活函数：W_1 与 W_2 之间每个元素都要经过激活，否则两次乘法等于一次"),
    Mistake("gate_not_activated", StepId::activated, 'B', gate_not_activated,
            "the gate was not activated: it is act(G) ∘ H", "门控没有经过激活函数：应为 act(G) ∘ H"),
    Mistake("gate_exchanged", StepId::activated, 'B', gate_exchanged,
            "gate and hidden layer were exchanged: the activation is the gate's, act(G) ∘ H",
            "门控与隐藏层弄反了：激活函数作用在门控上，act(G) ∘ H"),
    Mistake("gelu_form", StepId::activated, 'C', gelu_form,
            "the other form of GELU was taken: x·Φ(x) is one, its approximation by tanh another",
            "用了 GELU 的另一种形式：x·Φ(x) 是一种，tanh 近似是另一种"),
    Mistake("relu_for_other", StepId::activated, 'C', relu_for_other,
            "negative entries were set to 0 (ReLU): this MLP has another activation function",
            "把负数置成了 0（ReLU）：这个 MLP 用的是别的激活函数"),
    Mistake("gelu_for_other", StepId::activated, 'C', gelu_for_other,
            "GELU was taken: this MLP has another activation function", "用了 GELU：这个 MLP 用的是别的激活函数"),
};

}  // namespace

const std::span<const Mistake> block_mistakes = block_rows;

}  // namespace mha::study
