// Gradients held against central differences: each entry moved by itself, the loss computed again from there.

#include "compute/cost.hpp"
#include "core/error.hpp"
#include "core/gradient.hpp"
#include "io/json/writer.hpp"
#include "show/words/notation.hpp"
#include "study/gradient/descent.hpp"

namespace mha::study {
namespace {

constexpr double most_operations = 1e11;
constexpr Text too_large{
    "--against difference computes the loss again for every entry, which is too much for this problem; take a smaller one",
    "--against difference 要为每个元素重新计算损失，这道题太大了；请换一道小的题目"};
constexpr Text differences_title{"Gradients held against central differences", "梯度与中心差分对照"};
constexpr Text differences_method{
    "Every entry was moved by ±h and the loss computed again: (L(x + h) − L(x − h)) / 2h, for two h, which together leave "
    "an "
    "error of h⁴. Beside each gradient stands where it differs most, relative to the largest of 1, the difference and the "
    "loss; {} is allowed.",
    "每个元素各移动 ±h，重新计算损失：(L(x + h) − L(x − h)) / 2h，取两个 h 合并，误差为 h⁴ 阶。每个梯度后面是相差最大之处，"
    "相对于 1、差分值和损失中最大的一个；允许 {}。"};
constexpr Text gradient_header{"gradient", "梯度"};
constexpr Text relative_header{"relative difference", "相对差"};
constexpr Text worst_header{"at", "位置"};
constexpr Text apart_sentence{"{}: the gradient is {}, by differences it is {}", "{}：梯度为 {}，按差分为 {}"};
constexpr Text holds_word{"pass", "通过"};
constexpr Text fails_word{"FAIL", "不通过"};

// The loss as a function of one value, whoever computes it.
class LossOf {
 public:
  // The forward steps, without the one that computes the value.
  LossOf(const Loss& loss, const Plan& plan, ValueId value, const Tensor& numbers)
      : loss_(loss), moved_(std::make_shared<Tensor>(numbers)) {
    plan_.values = plan.values;
    for (const Step& step : plan.steps)
      if (!plan.is_backward(step) && step.out != value) plan_.steps.push_back(step);
    plan_.values[static_cast<std::size_t>(value)].constant = moved_;
    result_ = plan.forward_result();
    options_.keep.assign(plan.values.size(), false);
    options_.keep[static_cast<std::size_t>(result_)] = true;
  }

  double slope_at(Index i) {
    double* const x = moved_->data() + i;
    const double kept = *x;
    const auto by = [&](double h) {
      *x = kept + h;
      const double above = loss();
      *x = kept - h;
      const double below = loss();
      *x = kept;
      return (above - below) / (2 * h);
    };
    // Where a step bends (relu), a smaller h is on one side of the bend.
    double best = 0, apart = std::numeric_limits<double>::infinity();
    for (double h = 1e-3; h > 1e-6 && apart > difference_bound / 10; h /= 10) {
      const double wide = by(h), narrow = by(h / 2), own = std::abs(wide - narrow);
      if (own < apart) best = (4 * narrow - wide) / 3;
      apart = std::min(apart, own);
    }
    return best;
  }

  double loss() {
    const Tensor result = plan_.steps.empty() ? *moved_ : *compute::run(plan_, options_).value(result_);
    if (const std::optional<double> number = loss_of(loss_, result)) return *number;
    double sum = 0;  // of P ∘ G, whose gradient is G
    for_each_entry(result.shape(), [&](const Entry& entry) { sum += result.at(entry) * loss_.target.at(entry); });
    return sum;
  }

 private:
  const Loss& loss_;
  Plan plan_;
  std::shared_ptr<Tensor> moved_;
  ValueId result_ = -1;
  compute::RunOptions options_;
};

std::vector<ValueId> wholes_of(const Plan& plan) {
  std::vector<ValueId> ids;
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].gradient == Value::Gradient::whole) ids.push_back(static_cast<ValueId>(id));
  return ids;
}

HeldGradient held(const Problem& problem, const Plan& plan, const Trace& trace, ValueId id) {
  const ValueId of = plan.value(id).of;
  const Tensor& gradient = *trace.value(id);
  const Tensor& numbers = plan.value(of).constant ? *plan.value(of).constant : *trace.value(of);
  LossOf loss(*problem.loss, plan, of, numbers);
  const double size = std::max(1.0, std::abs(loss.loss()));
  HeldGradient worst{id, {}, 0, 0, -1};
  Index i = 0;
  for_each_entry(gradient.shape(), [&](const Entry& at) {
    const double own = gradient.at(at);
    // −∞ does not move.
    const double difference = std::isfinite(numbers.at(at)) ? loss.slope_at(i) : 0;
    const double relative = std::abs(own - difference) / std::max(size, std::abs(difference));
    if (!(relative <= worst.relative)) worst = {id, at, own, difference, relative};
    ++i;
  });
  return worst;
}

bool holds(const HeldGradient& held) {
  return held.relative <= difference_bound;
}

std::string entry_of(const HeldGradient& held, const show::Scenes& layers) {
  const show::Scene& scene = scene_of(layers, held.value);
  return full_entry(scene, held.value, place_of_head(scene, held.value, held.at.item, held.at.head),
                    {held.at.row, held.at.column});
}

}  // namespace

std::vector<HeldGradient> against_differences(const Problem& problem, const Plan& plan, const Trace& trace) {
  const std::vector<ValueId> ids = wholes_of(plan);
  double entries = 0;
  for (const ValueId id : ids) entries += static_cast<double>(plan.value(id).shape.size());
  if (4 * entries * (compute::operations(plan) + 1000) > most_operations) throw Error(too_large);
  std::vector<HeldGradient> all;
  for (const ValueId id : ids) all.push_back(held(problem, plan, trace, id));
  return all;
}

bool all_hold(const std::vector<HeldGradient>& gradients) {
  return std::all_of(gradients.begin(), gradients.end(), holds);
}

show::Document describe(const std::vector<HeldGradient>& gradients, const show::Scenes& layers) {
  const show::PageOptions& options = layers.front().options;
  show::PageBuilder page(options.language, options.index_base);
  page.title(differences_title, layers.front().whole.title);
  page.paragraph(differences_method, difference_bound);
  show::Table table{
      page.header(gradient_header, show::phrase::verdict, relative_header, worst_header), {}, {false, false, true, false}};
  for (const HeldGradient& held : gradients)
    table.rows.push_back({layers.front().plan.value(held.value).symbol, page.say(holds(held) ? holds_word : fails_word),
                          show::short_text(held.relative), entry_of(held, layers)});
  page.add(std::move(table));
  for (const HeldGradient& held : gradients)
    if (!holds(held))
      page.warning(apart_sentence, entry_of(held, layers), show::short_text(held.gradient),
                   show::short_text(held.difference));
  return page.take();
}

void write_differences(io::Sink& sink, const std::vector<HeldGradient>& gradients, const show::Scenes& layers) {
  io::JsonWriter json(sink);
  json.begin_file("mha-differences");
  json.number("bound", difference_bound);
  json.boolean("pass", all_hold(gradients));
  json.begin_array("gradients");
  for (const HeldGradient& held : gradients) {
    json.begin_object(io::Spread::line);
    json.text("gradient", layers.front().plan.value(held.value).symbol);
    json.boolean("pass", holds(held));
    json.text("entry", entry_of(held, layers));
    json.integer("item", held.at.item + 1);
    json.number("value", held.gradient);
    json.number("difference", held.difference);
    json.number("relative", held.relative);
    json.end();
  }
  json.finish();
}

}  // namespace mha::study
