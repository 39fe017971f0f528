// Mistakes in the weights and what they are applied to: another softmax, another formula, or none; other values than V.

#include "study/mistakes/forms.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

void other_softmax(Forms& forms, const Softmax& softmax) {
  forms.add().step(StepId::weights).softmax = softmax;
}

void softmax_over(Forms& forms, Softmax::Over over) {
  other_softmax(forms, {.over = over});
}

void softmax_overflow(Forms& forms) {
  other_softmax(forms, {.maximum_subtracted = false});
}

void softmax_plus_one(Forms& forms) {
  forms.add("e^z / (1 + Σ e^z)").step(StepId::weights).softmax = {.maximum_subtracted = false, .one_more = true};
  forms.add("e^(z−max) / (1 + Σ e^(z−max))").step(StepId::weights).softmax = {.one_more = true};
}

void softmax_twice(Forms& forms) {
  forms.add().append({Op::softmax, StepId::weights, {}});
}

void softmax_base2(Forms& forms) {
  other_softmax(forms, {.power = Softmax::Power::two});
}

// Something else than a softmax makes the weights; then hidden entries are 0 on paper, or −∞ in a program.
template <typename Change>
void without_exponential(Forms& forms, Change change) {
  const std::optional<Tensor> keep = keep_of(forms.right);
  if (keep) {
    PlanEditor& edit = forms.add("M = Z ∘ keep");
    mask_by_product(edit, *keep);
    change(edit);
  }
  change(forms.add(keep ? "M = Z + (−∞)" : ""));
}

void no_softmax(Forms& forms) {
  without_exponential(forms, [](PlanEditor& edit) { edit.leave_out(StepId::weights); });
}

void sum_normalised(Forms& forms) {
  without_exponential(forms, [](PlanEditor& edit) { edit.step(StepId::weights).softmax.power = Softmax::Power::none; });
}

// The mean of the heads' weights, the same in each head.
void weights_averaged(Forms& forms) {
  if (forms.problem.heads == 1) return;
  PlanEditor& edit = forms.add();
  edit.append({Op::pool, StepId::weights, {}});
  edit.append({Op::copy, StepId::weights, {}});
}

// Which weights are dropped is chance: here every other one. `check` recognises any others from the numbers given.
void dropout(Forms& forms) {
  PlanEditor& edit = forms.add("p = 0.5");
  const Shape& shape = edit.shape(StepId::weights);
  Tensor factors({1, 1, shape.rows, shape.cols});
  for (Index i = 0; i < factors.size(); ++i) factors.data()[i] = (i / shape.cols + i % shape.cols) % 2 == 0 ? 2 : 0;
  edit.append({Op::multiply, StepId::weights, {edit.constant("0, 1/(1 − p)", std::move(factors))}});
}

void attention_transposed(Forms& forms) {
  forms.add().step(StepId::head_output).first_transposed = true;
}

// A·K or A·Q; where they are rotated, people take them before or after.
void instead_of_v(Forms& forms, StepId plain, StepId rotated) {
  for (const StepId id : {plain, rotated}) {
    if (!forms.has(id)) continue;
    PlanEditor& edit = forms.add("A·" + std::string(name_of(id).symbol));
    edit.step(StepId::head_output).in[1] = edit.value(id);
  }
}

constexpr std::array weight_rows = {
    Mistake("softmax_columns", StepId::weights, 'A', with<softmax_over, Softmax::Over::column>,
            "the softmax ran down the columns: each row (query) sums to 1", "softmax 沿列做了：应使每一行（查询）之和为 1"),
    Mistake("softmax_heads", StepId::weights, 'C', with<softmax_over, Softmax::Over::heads>,
            "the softmax ran over the heads: in each head each row sums to 1",
            "softmax 沿各个头做了：应在每个头内使每一行之和为 1"),
    Mistake("softmax_all", StepId::weights, 'C', with<softmax_over, Softmax::Over::matrix>,
            "the softmax ran over the whole matrix, which sums to 1 in all: each row sums to 1",
            "softmax 对整个矩阵做了，全部之和为 1：应使每一行之和为 1"),
    Mistake(
        "batch_softmax", StepId::weights, 'C',
        [](Forms& forms) {
          if (forms.problem.batch() > 1) softmax_over(forms, Softmax::Over::items);
        },
        "the softmax ran over the items of the batch: in each item each row sums to 1",
        "softmax 沿批次的各个样本做了：应在每个样本内使每一行之和为 1"),
    Mistake("softmax_overflow", StepId::weights, 'A', softmax_overflow,
            "e^z overflowed and gave NaN: subtract the row's maximum first, which changes no weight",
            "e^z 溢出而得 NaN：应先减去该行的最大值，权重不变"),
    Mistake("softmax_plus_one", StepId::weights, 'B', softmax_plus_one,
            "the denominator had one added: it is the sum of the row's powers alone",
            "分母多加了 1：分母只是该行各个指数之和"),
    Mistake("softmax_twice", StepId::weights, 'B', softmax_twice,
            "the softmax was taken twice: once turns scores into weights", "softmax 做了两次：做一次就由分数得到权重"),
    Mistake("softmax_base2", StepId::weights, 'C', softmax_base2, "powers of 2 were taken: softmax takes powers of e",
            "用了 2 的幂：softmax 用的是 e 的幂"),
    Mistake("no_softmax", StepId::weights, 'C', no_softmax,
            "the softmax was left out: the scores become weights by e^z and division by the row's sum",
            "漏了 softmax：对分数要取 e^z 再除以该行之和，才是权重"),
    Mistake("sum_normalised", StepId::weights, 'C', sum_normalised,
            "the scores were divided by their row's sum without the power: softmax is e^z divided by the row's sum of e^z",
            "分数没有取指数就除以了该行之和：softmax 是 e^z 除以该行 e^z 之和"),
    Mistake("weights_averaged", StepId::weights, 'B', weights_averaged,
            "every head used the mean of all heads' weights: each head has its own",
            "每个头都用了各头权重的平均：各头有自己的权重"),
    Mistake("dropout", StepId::weights, 'B', dropout,
            "some weights became 0 and all others 1/(1 − p) of the true ones, as dropout makes them in training: otherwise "
            "none is dropped",
            "一部分权重变为 0，其余都成为原来的 1/(1 − p)，这是训练时的 dropout：此外不丢弃任何权重"),
    Mistake("attention_transposed", StepId::head_output, 'C', attention_transposed,
            "Aᵀ·V was computed: row i of A says how query i mixes the rows of V, so it is A·V",
            "算成了 Aᵀ·V：A 的第 i 行说明查询 i 如何混合 V 的各行，应为 A·V"),
    Mistake("k_for_v", StepId::head_output, 'B', with<instead_of_v, StepId::K, StepId::K_rot>,
            "the weights were applied to K: they mix the values, A·V", "权重乘到了 K 上：权重混合的是值，应为 A·V"),
    Mistake("q_for_v", StepId::head_output, 'B', with<instead_of_v, StepId::Q, StepId::Q_rot>,
            "the weights were applied to Q: they mix the values, A·V", "权重乘到了 Q 上：权重混合的是值，应为 A·V"),
};

}  // namespace

const std::span<const Mistake> weight_mistakes = weight_rows;

}  // namespace mha::study
