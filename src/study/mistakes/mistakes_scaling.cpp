// Mistakes in the scale 1/√d_k: another number, none, or in another place.
#include <array>
#include <cmath>

#include "study/mistakes/mistake_groups.hpp"

namespace mha::study {
namespace {

// A number times the scores; `factor` under the name by which it is known.
Variants scaled_by(const Plan& right, std::string symbol, double factor) {
  PlanEditor edit(right);
  if (!edit.has(StepId::scaled)) return {};
  Tensor number({1, 1, 1, 1});
  number.fill(factor);
  const ValueId constant = edit.constant(std::move(symbol), std::move(number));
  edit.step(StepId::scaled).in[1] = constant;
  return only_form(std::move(edit));
}

double d_k(const Problem& problem) {
  return static_cast<double>(problem.d_k());
}

void leave_out_scale(PlanEditor& edit) {
  edit.replace({Op::copy, StepId::scaled, {edit.step(StepId::scaled).in[0]}});
}

Variants no_scale(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  if (!edit.has(StepId::scaled)) return {};
  leave_out_scale(edit);
  return only_form(std::move(edit));
}

Variants scale_after_softmax(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  if (!edit.has(StepId::scaled)) return {};
  const ValueId scale = edit.step(StepId::scaled).in[1];
  leave_out_scale(edit);
  edit.append({Op::multiply, StepId::weights, {scale}});
  return only_form(std::move(edit));
}

constexpr std::array rows = {
    Mistake{"no_scale",
            {"the scores were not scaled: multiply them by 1/√d_k before the softmax",
             "打分没有缩放：softmax 之前要乘以 1/√d_k"},
            StepId::scaled,
            'B',
            no_scale},
    Mistake{"scale_sqrt_dmodel",
            {"the scores were divided by √d_model instead of √d_k: each head has its own width d_k",
             "打分除以了 √d_model 而不是 √d_k：每个头的宽度是 d_k"},
            StepId::scaled,
            'A',
            [](const Problem& p, const Plan& right) {
              return scaled_by(right, "1/√(h·d_k)", 1 / std::sqrt(static_cast<double>(p.heads) * d_k(p)));
            }},
    Mistake{"scale_dk",
            {"the scores were divided by d_k, without the root or by √d_k twice: divide them once, by √d_k",
             "打分除以了 d_k (没有开方，或除了两次 √d_k)：应只除一次 √d_k"},
            StepId::scaled,
            'B',
            [](const Problem& p, const Plan& right) { return scaled_by(right, "1/d_k", 1 / d_k(p)); }},
    Mistake{"scale_multiplied",
            {"the scores were multiplied by √d_k: they are divided by it", "打分乘以了 √d_k：应当除以它"},
            StepId::scaled,
            'C',
            [](const Problem& p, const Plan& right) { return scaled_by(right, "√d_k", std::sqrt(d_k(p))); }},
    Mistake{"scale_fourth_root",
            {"the scores were divided by the fourth root of d_k: divide by the square root √d_k (or by the fourth root in "
             "Q and in K)",
             "打分除以了 d_k 的四次方根：应除以平方根 √d_k (若用四次方根，须 Q 和 K 各除一次)"},
            StepId::scaled,
            'C',
            [](const Problem& p, const Plan& right) { return scaled_by(right, "1/∜d_k", std::pow(d_k(p), -0.25)); }},
    Mistake{"scale_sqrt_heads",
            {"the scores were divided by the root of the number of heads: divide by √d_k, the root of a head's width",
             "打分除以了头数的平方根：应除以每个头宽度的平方根 √d_k"},
            StepId::scaled,
            'C',
            [](const Problem& p, const Plan& right) {
              return scaled_by(right, "1/√h", 1 / std::sqrt(static_cast<double>(p.heads)));
            }},
    Mistake{"scale_sqrt_n",
            {"the scores were divided by the root of the number of tokens: divide by √d_k, the root of a head's width",
             "打分除以了词元数的平方根：应除以每个头宽度的平方根 √d_k"},
            StepId::scaled,
            'C',
            [](const Problem& p, const Plan& right) {
              return scaled_by(right, "1/√n", 1 / std::sqrt(static_cast<double>(p.queries())));
            }},
    Mistake{"scale_after_softmax",
            {"the weights were scaled after the softmax, so that rows no longer sum to 1: scale the scores before it",
             "缩放放到了 softmax 之后，各行之和不再是 1：应先缩放打分，再做 softmax"},
            StepId::scaled,
            'C',
            scale_after_softmax},
};

}  // namespace

std::span<const Mistake> scale_mistakes() {
  return rows;
}

}  // namespace mha::study
