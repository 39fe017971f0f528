// Mistakes on the way back: in the gradients of values, of weights and of biases.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/mistakes/forms.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

using Ids = std::vector<StepId>;

// The gradient of what the softmax reads; nothing where no loss is told.
std::optional<StepId> before_softmax(const Forms& forms) {
  for (const StepId id : {StepId::d_masked, StepId::d_capped, StepId::d_scaled, StepId::d_scores})
    if (forms.has(id)) return id;
  return std::nullopt;
}

// The product of which a gradient is made: what comes from several heads or items may be summed up behind it.
Step& product_behind(PlanEditor& edit, StepId id) {
  Step* step = &edit.step(id);
  while (step->op == Op::sum) step = &edit.writer(step->in[0]);
  return *step;
}

// The rotated rows, where there are such.
StepId first_of(const Forms& forms, StepId rotated, StepId plain) {
  return forms.has(rotated) ? rotated : plain;
}

// One form in which it is made in all of these rows, and one for each of several.
template <typename Change>
void in_all_and_each(Forms& forms, const Ids& rows, const std::string& detail, Change change) {
  if (rows.empty()) return;
  PlanEditor& all = forms.add(detail);
  for (const StepId row : rows) change(all, row);
  for (const StepId row : rows.size() > 1 ? rows : Ids()) {
    const std::string symbol(name_of(row).symbol);
    change(forms.add(detail.empty() ? symbol : symbol + ": " + detail), row);
  }
}

// The rows of gradients whose last step is like that.
template <typename Belongs>
Ids rows_where(const Forms& forms, Belongs belongs) {
  Ids rows;
  for (const Step& step : forms.right.steps) {
    const Value& value = forms.right.value(step.out);
    if (value.gradient != Value::Gradient::none && value.step && belongs(step)) rows.push_back(*value.step);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void times(PlanEditor& edit, StepId row, const std::string& name, double factor) {
  edit.append({Op::multiply, row, {edit.constant(name, factor)}});
}

// dP of the result P.
void loss_factor(Forms& forms) {
  const std::optional<ValueId> result = forms.right.gradient(forms.right.forward_result());
  if (!result) return;
  const StepId row = *forms.right.value(*result).step;
  const Shape& shape = forms.right.value(*result).shape;
  const auto N = static_cast<double>(shape.size()), n = static_cast<double>(shape.batch * shape.rows);
  const auto by = [&](const char* name, double factor) {
    PlanEditor& edit = forms.add(name);
    Step& step = edit.step(row);
    step.in.resize(2);
    if (factor != 1) step.in.push_back(edit.constant(name, factor));
  };
  switch (forms.problem.loss->kind) {
    case Loss::Kind::mse:
      if (N != 2) by("1", 1);
      if (n != 1) by("2", 2);
      by("1/N", 1 / N);
      if (n != N && 2 * n != N) by("1/n", 1 / n);
      if (n != N) by("2/n", 2 / n);
      return;
    case Loss::Kind::half_squares: return by("2", 2);
    case Loss::Kind::cross_entropy:
      if (n != 1) by("1", 1);
      return;
    case Loss::Kind::sum:
    case Loss::Kind::gradient: return;
  }
}

void product_flipped(Forms& forms, StepId row) {
  if (!forms.has(row)) return;
  Step& product = product_behind(forms.add(), row);
  if (product.op != Op::product) return forms.take_back();
  product.transposed = !product.transposed;
}

void wo_untransposed(Forms& forms) {
  product_flipped(forms, StepId::d_concat);
}

void v_untransposed(Forms& forms) {
  product_flipped(forms, StepId::d_weights);
}

void k_transposed(Forms& forms) {
  product_flipped(forms, first_of(forms, StepId::d_Q_rot, StepId::d_Q));
}

void first_untransposed(Forms& forms, StepId rotated, StepId plain) {
  if (forms.has(plain)) product_behind(forms.add(), first_of(forms, rotated, plain)).first_transposed = false;
}

// A ∘ dA
void row_sum_forgotten(Forms& forms) {
  const std::optional<StepId> row = before_softmax(forms);
  if (!row) return;
  PlanEditor& edit = forms.add();
  const Step own = edit.step(*row);
  edit.replace({Op::multiply, *row, {own.in[0], own.in[2]}});
}

// (A − A²) ∘ dA
void diagonal_only(Forms& forms) {
  const std::optional<StepId> row = before_softmax(forms);
  if (!row) return;
  PlanEditor& edit = forms.add();
  const ValueId dA = edit.step(*row).in[0], A = edit.step(*row).in[2];
  const ValueId squares = edit.insert({Op::multiply, *row, {A, A}});
  edit.replace({Op::difference, *row, {A, squares, dA}});
}

void jacobian_columns(Forms& forms) {
  const std::optional<StepId> row = before_softmax(forms);
  if (!row) return;
  PlanEditor& edit = forms.add();
  const ValueId dA = edit.step(*row).in[0], A = edit.step(*row).in[2];
  Shape sums = edit.shape(*row);
  sums.rows = 1;
  const ValueId r = edit.insert({Op::sum, *row, {A, dA}}, sums);
  edit.step(*row).in[1] = r;
}

// The weights are those of the scores without the mask.
void mask_ignored_backwards(Forms& forms) {
  if (!forms.has(StepId::d_masked) || !keep_of(forms.right)) return;
  PlanEditor& edit = forms.add();
  const ValueId dA = edit.step(StepId::d_masked).in[0], unhidden = unhidden_scores(edit);
  Shape sums = edit.shape(StepId::d_masked);
  sums.cols = 1;
  Step weights = edit.step(StepId::weights);
  weights.id = StepId::d_masked;
  weights.in[0] = unhidden;
  const ValueId A = edit.insert(std::move(weights));
  const ValueId r = edit.insert({Op::sum, StepId::d_masked, {A, dA}}, sums);
  edit.replace({Op::difference, StepId::d_masked, {dA, r, A}});
}

void scale_forgotten(Forms& forms) {
  if (forms.has(StepId::d_scaled)) forms.add().leave_out(StepId::d_scores);
}

void scale_twice(Forms& forms) {
  if (!forms.has(StepId::d_scaled)) return;
  PlanEditor& edit = forms.add();
  const ValueId scale = edit.step(StepId::d_scores).in[1];
  edit.append({Op::multiply, StepId::d_scores, {scale}});
}

// Each query head keeps what comes back through it alone; the group's mean is taken, or what one of its heads gives.
void group_sum_forgotten(Forms& forms) {
  const Ids rows = rows_where(forms, [&](const Step& step) {
    const Plan& plan = forms.right;
    return step.op == Op::sum && plan.value(plan.value(step.out).of).per_head &&
           !plan.value(plan.value(step.out).of).constant;
  });
  if (rows.empty()) return;
  PlanEditor &own = forms.add(), &mean = forms.add("Σ · g/h");
  const Index groups = forms.problem.kv_heads, heads = forms.problem.heads, group = heads / groups;
  for (const Index kept : {Index{0}, group - 1}) {
    Tensor chosen({1, heads, 1, 1});
    for (Index head = 0; head < heads; ++head) chosen.data()[head] = head % group == kept ? 1 : 0;
    PlanEditor& one = forms.add(kept == 0 ? "first" : "last");
    const ValueId factor = one.constant("0, 1", std::move(chosen));
    for (const StepId row : rows) one.step(row).in[0] = one.insert({Op::multiply, row, {one.step(row).in[0], factor}});
  }
  for (const StepId row : rows) {
    times(mean, row, "g/h", static_cast<double>(groups) / static_cast<double>(heads));
    Shape shape = own.shape(row);
    own.replace({Op::copy, row, {own.step(row).in[0]}});
    own.shape(row).heads = heads;
    const StepId last = row == StepId::d_K_rot ? StepId::d_K : row;
    own.insert_behind({Op::sum, last, {own.value(last)}}, shape);
  }
}

// What X gets through the heads, added up.
void heads_averaged_backwards(Forms& forms) {
  PlanEditor& edit = forms.add();
  bool any = false;
  for (const Step& step : forms.right.steps) {
    const Value& value = forms.right.value(step.out);
    if (step.op != Op::sum || step.in.size() > 1 || value.gradient == Value::Gradient::none) continue;
    const Value& of = forms.right.value(value.of);
    const Index heads = forms.right.value(step.in[0]).shape.heads;
    if (of.per_head || is_of_parameter(step.id) || heads == 1) continue;
    const ValueId share = edit.constant("1/h", 1 / static_cast<double>(heads));
    if (value.step)
      edit.append({Op::multiply, *value.step, {share}});
    else
      edit.insert_behind({Op::multiply, step.id, {step.out, share}}, value.shape);
    any = true;
  }
  if (!any) forms.take_back();
}

// Of a sum whose parts come through products, and what a residual sum hands on as it is: without one of them.
void part_left_out(Forms& forms, bool handed_on) {
  for (const StepId row : rows_where(forms, [](const Step& step) { return step.op == Op::add; })) {
    const std::vector<ValueId> parts = forms.right.writer_of(*forms.right.find(row))->in;
    const auto is_handed_on = [&](ValueId part) { return forms.right.value(part).step.has_value(); };
    const auto others = static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), is_handed_on));
    if (!handed_on && parts.size() - others < 2) continue;
    for (const ValueId left_out : parts) {
      if (is_handed_on(left_out) != handed_on) continue;
      PlanEditor& edit = forms.add(fmt::format("{} − {}", name_of(row).symbol, forms.right.value(left_out).symbol));
      Step step = edit.step(row);
      std::erase(step.in, left_out);
      if (step.in.size() == 1) step.op = Op::copy;
      edit.replace(std::move(step));
    }
  }
}

void norm_means_forgotten(Forms& forms) {
  for (const auto& [mean, deviation] : {std::pair(true, true), {false, true}, {true, false}}) {
    PlanEditor& edit = forms.add(!mean ? "σ" : deviation ? "mean, σ" : "mean");
    bool any = false;
    for (const Step& step : forms.right.steps) {
      if (step.op != Op::norm_slope || (mean && step.norm.kind == Norm::Kind::rms)) continue;
      edit.writer(step.out).norm.mean_is_constant = mean;
      edit.writer(step.out).norm.deviation_is_constant = deviation;
      any = true;
    }
    if (!any) forms.take_back();
  }
}

void activation_misplaced(Forms& forms) {
  for (const StepId row : {StepId::d_gate, StepId::d_hidden}) {
    const Step* const right = forms.has(row) ? forms.right.writer_of(*forms.right.find(row)) : nullptr;
    if (right == nullptr || right->op != Op::slope || right->activation == Activation::none) continue;
    const bool gated = right->in.size() > 2;
    forms.add("f′(dU)").step(row).in[1] = right->in[0];
    if (gated) forms.add("f′(H)").step(row).in[1] = right->in[2];
    if (right->activation != Activation::relu) {  // of which f′(f(x)) = f′(x)
      PlanEditor& activated = forms.add(gated ? "f′(f(G))" : "f′(U)");
      Step f{Op::activation, row, {right->in[1]}};
      f.activation = right->activation;
      const ValueId place = gated ? activated.insert(std::move(f)) : *forms.right.find(StepId::activated);
      activated.step(row).in[1] = place;
    }
    PlanEditor& none = forms.add("dU");
    if (gated)
      none.replace({Op::multiply, row, {right->in[0], right->in[2]}});
    else
      none.leave_out(row);
  }
}

void weight_gradient_transposed(Forms& forms) {
  const auto is_weight = [&](const Step& step) {
    return forms.right.value(forms.right.value(step.out).of).role == Value::Role::weight;
  };
  in_all_and_each(forms, rows_where(forms, is_weight), "", [](PlanEditor& edit, StepId row) {
    Step& product = product_behind(edit, row);
    if (product.op != Op::product) return;  // of weights that are read twice
    std::swap(product.in[0], product.in[1]);
    std::swap(edit.shape(row).rows, edit.shape(row).cols);
  });
}

void bias_gradient_not_summed(Forms& forms) {
  const Ids rows = rows_where(forms, [&](const Step& step) {
    const Value& of = forms.right.value(forms.right.value(step.out).of);
    return of.role == Value::Role::bias && step.op == Op::sum && step.in.size() == 1;
  });
  if (forms.problem.queries() * forms.problem.batch() == 1) return;
  in_all_and_each(forms, rows, "", [](PlanEditor& edit, StepId row) {
    edit.replace({Op::copy, row, {edit.step(row).in[0]}});
  });
  in_all_and_each(forms, rows, "Σ/n", [](PlanEditor& edit, StepId row) {
    const Shape& shape = edit.operand(edit.step(row).in[0]).shape;
    times(edit, row, "1/n", 1 / static_cast<double>(shape.rows));
  });
}

void batch_averaged(Forms& forms) {
  if (forms.problem.batch() == 1) return;
  const Ids rows = rows_where(forms, [&](const Step& step) { return is_of_parameter(*forms.right.value(step.out).step); });
  if (rows.empty()) return;
  PlanEditor& edit = forms.add();
  for (const StepId row : rows) times(edit, row, "1/b", 1 / static_cast<double>(forms.problem.batch()));
}

constexpr std::array gradient_rows = {
    Mistake("gradient_loss_factor", StepId::d_output, 'B', loss_factor,
            "the gradient of the loss has another factor: (P − T)·2/N for a mean of squares over N entries, P − T for half "
            "their sum, (softmax(P) − one-hot)/n for a cross-entropy over n rows",
            "损失的梯度系数不对：N 个元素的均方误差是 (P − T)·2/N，平方和之半是 P − T，n 行的交叉熵是 (softmax(P) − "
            "one-hot)/n"),
    Mistake("gradient_activation", StepId::d_hidden, 'B', activation_misplaced,
            "the derivative of the activation was taken at the wrong place, or left out: dU ∘ f′, with f′ of what the "
            "activation read",
            "激活函数的导数取错了地方，或漏乘了：应为 dU ∘ f′，f′ 取在激活函数的输入处"),
    Mistake("gradient_wo_untransposed", StepId::d_concat, 'B', wo_untransposed,
            "dY was multiplied by W_O as it is: dConcat is dY times its transpose",
            "dY 直接乘了 W_O：dConcat 应为 dY 乘它的转置"),
    Mistake("gradient_v_untransposed", StepId::d_weights, 'C', v_untransposed,
            "dhead was multiplied by V as it is: dA = dhead·Vᵀ", "dhead 直接乘了 V：应为 dA = dhead·Vᵀ"),
    Mistake("gradient_a_untransposed", StepId::d_V, 'A', with<first_untransposed, StepId::d_V, StepId::d_V>,
            "A was used as it is for dV: dV = Aᵀ·dhead, each key gathers from the queries that looked at it",
            "计算 dV 时 A 没有转置：应为 dV = Aᵀ·dhead，每个键从看它的各查询收集"),
    Mistake("gradient_group_sum", StepId::d_V, 'B', group_sum_forgotten,
            "the query heads of a group were not added up: dK and dV of a shared head are the sums over its group",
            "没有把一组查询头的结果相加：共用的键值头的 dK、dV 是整组之和"),
    Mistake("gradient_row_sum", StepId::d_masked, 'A', row_sum_forgotten,
            "the row sum was left out in the softmax's gradient, A ∘ dA: it is A ∘ (dA − r), r the row sums of A ∘ dA",
            "softmax 的梯度漏了行和，只算了 A ∘ dA：应为 A ∘ (dA − r)，r 是 A ∘ dA 的各行之和"),
    Mistake("gradient_diagonal", StepId::d_masked, 'A', diagonal_only,
            "of the softmax's Jacobian only the diagonal was used, A(1 − A) ∘ dA: each weight depends on all scores of its "
            "row, so it is A ∘ (dA − r)",
            "softmax 的雅可比矩阵只用了对角线，即 A(1 − A) ∘ dA：每个权重依赖于该行的所有分数，应为 A ∘ (dA − r)"),
    Mistake("gradient_columns", StepId::d_masked, 'B', jacobian_columns,
            "the sums of A ∘ dA were taken over columns: the softmax is over rows, and so is r",
            "A ∘ dA 是按列求的和：softmax 按行进行，r 也按行求和"),
    Mistake(
        "gradient_mask_ignored", StepId::d_masked, 'B', mask_ignored_backwards,
        "the mask was ignored on the way back, with weights of the unmasked scores: hidden entries have weight 0, and so "
        "have gradient 0",
        "反向传播时忽略了掩码，用了未掩码分数的权重：被遮住的元素权重为 0，梯度也为 0"),
    Mistake("gradient_scale_forgotten", StepId::d_scores, 'A', scale_forgotten,
            "the scale was left out on the way back: dS is dZ times the same 1/√d_k",
            "反向传播时漏了缩放：dS 是 dZ 乘同一个 1/√d_k"),
    Mistake("gradient_scale_twice", StepId::d_scores, 'B', scale_twice,
            "the scale was taken twice on the way back: dS is dZ times 1/√d_k, once",
            "反向传播时缩放了两次：dS 是 dZ 乘一次 1/√d_k"),
    Mistake("gradient_k_transposed", StepId::d_Q, 'B', k_transposed, "dS was multiplied by Kᵀ: S = Q·Kᵀ gives dQ = dS·K",
            "dS 乘的是 Kᵀ：由 S = Q·Kᵀ 得 dQ = dS·K"),
    Mistake("gradient_ds_untransposed", StepId::d_K, 'A', with<first_untransposed, StepId::d_K_rot, StepId::d_K>,
            "dS was used as it is for dK: dK = dSᵀ·Q", "计算 dK 时 dS 没有转置：应为 dK = dSᵀ·Q"),
    Mistake(
        "gradient_part_forgotten", StepId::d_X, 'A', with<part_left_out, false>,
        "one of the parts was left out: what several products read gets the sum of what comes back through each of them",
        "漏了其中一部分：被几个乘积读取的值，梯度是从各条路径传回的部分之和"),
    Mistake("gradient_heads_averaged", StepId::d_X, 'B', heads_averaged_backwards,
            "what comes back through the heads was averaged: it is added up", "对各头传回的梯度取了平均：应相加"),
    Mistake("gradient_residual_forgotten", StepId::d_X, 'A', with<part_left_out, true>,
            "the residual path was forgotten on the way back: a sum hands its gradient on to both of its terms",
            "反向传播时忘了残差路径：和的梯度要原样传给它的两个加数"),
    Mistake("gradient_norm_means", StepId::d_X, 'B', norm_means_forgotten,
            "the mean or the deviation of a norm was taken for a constant: both depend on every entry of the row, "
            "dx = (h − mean of h − x̂·mean of h ∘ x̂)/σ with h = dN ∘ γ",
            "把归一化的均值或标准差当成了常数：两者都依赖于该行的每个元素，dx = (h − h 的均值 − x̂·(h ∘ x̂ 的均值))/σ，其中 "
            "h = dN ∘ γ"),
    Mistake(
        "gradient_weight_transposed", StepId::d_W_Q, 'B', weight_gradient_transposed,
        "the gradient of a weight matrix was written down as its transpose: it has the shape of the matrix, input times "
        "what came back",
        "权重矩阵的梯度写成了转置：它与该矩阵形状相同，由输入与传回的梯度相乘得出"),
    Mistake(
        "gradient_bias_rows", StepId::d_b_Q, 'A', bias_gradient_not_summed,
        "the gradient of a bias was not summed over the rows: the bias is added to each of them, so its gradient is the "
        "sum of all",
        "偏置的梯度没有对各行求和：偏置加到了每一行上，所以它的梯度是各行之和"),
    Mistake("gradient_batch_averaged", StepId::d_W_Q, 'B', batch_averaged,
            "the gradients of the parameters were averaged over the batch: each item adds its part",
            "对批次取了参数梯度的平均：应把各样本的部分相加"),
};

}  // namespace

const std::span<const Mistake> gradient_mistakes = gradient_rows;

}  // namespace mha::study
