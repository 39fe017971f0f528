// Gradient descent by the engine, step after step.
#include "study/gradient/descent.hpp"

#include "core/error.hpp"
#include "core/gradient.hpp"

namespace mha::study {
namespace {

constexpr Text descent_heading{"Gradient descent", "梯度下降"};
constexpr Text descent_rule{"each parameter less {} times its gradient", "每个参数减去 {} 乘以它的梯度"};
constexpr Text after_header{"steps", "步数"};
constexpr Text loss_header{"loss", "损失"};
constexpr Text passes_all_numbers{
    "step {} of gradient descent takes the parameters beyond all numbers; descend by less than {}",
    "梯度下降第 {} 步使参数超出了可表示的数；请用小于 {} 的学习率"};
constexpr Text loss_is_no_number{
    "the loss of this problem is given by its gradient alone, so nothing can be seen to fall; write --loss "
    "half_squares:FILE",
    "这道题的损失只给出了梯度，看不出是否下降；请写 --loss half_squares:FILE"};

}  // namespace

Descent descend(const Problem& problem, double rate, int times, const compute::RunOptions& options) {
  Descent descent{{}, problem};
  for (int i = 0; i <= times; ++i) {
    const Plan plan = with_gradient(make_plan(descent.problem), *descent.problem.loss);
    compute::RunOptions parameters = options;
    Selection chosen;
    chosen.steps = chosen.gradients = std::vector<bool>(step_count, false);
    parameters.keep = compute::values_to_keep(plan, chosen, false);
    parameters.keep[static_cast<std::size_t>(plan.forward_result())] = true;  // for the loss
    const Trace trace = compute::run(plan, parameters);
    const std::optional<double> loss = loss_of(*problem.loss, *trace.value(plan.forward_result()));
    if (!loss) throw Error(loss_is_no_number);
    descent.losses.push_back(*loss);
    if (i == times) break;
    Problem next = with_parameters(descent.problem, plan, [&](const Tensor& own, ValueId id) {
      Tensor moved(own.shape());
      const Tensor& gradient = *trace.value(plan.gradient(id).value());
      for (Index j = 0; j < moved.size(); ++j) {
        moved.data()[j] = plan.is_absent(id, j / own.shape().cols) ? 0 : own.data()[j] - rate * gradient.data()[j];
        if (!std::isfinite(moved.data()[j])) throw Error(passes_all_numbers, i + 1, show::full_text(rate));
      }
      return moved;
    });
    descent.problem = std::move(next);
  }
  return descent;
}

void add_descent(const Descent& descent, double rate, int decimals, show::PageBuilder& page) {
  page.section({page.say(descent_heading)});
  page.caption(descent_rule, show::full_text(rate));
  show::NumberStyle style(decimals, show::NumberStyle::Origin::computed);
  for (const double loss : descent.losses) style.see(loss);
  show::Table table{page.header(after_header, loss_header), {}, {true, true}};
  for (std::size_t i = 0; i < descent.losses.size(); ++i)
    table.rows.push_back({std::to_string(i), style.text(descent.losses[i])});
  page.add(std::move(table));
}

}  // namespace mha::study
