// What a page says of the steps of a backward pass, and of the loss from which it begins.

#include "core/gradient.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"

namespace mha::show {
namespace {

std::string loss_formula(const Scene& scene, const std::string& P) {
  const Language language = scene.options.language;
  switch (scene.whole.loss->kind) {
    case Loss::Kind::sum: return say(language, {"sum of all entries of {}", "{} 所有元素之和"}, P);
    case Loss::Kind::mse: return say(language, {"mean of ({} − T)²", "({} − T)² 的平均"}, P);
    case Loss::Kind::half_squares: return "½ Σ (" + P + " − T)²";
    case Loss::Kind::cross_entropy: return say(language, phrase::loss_cross_entropy, P);
    case Loss::Kind::gradient: return "";
  }
  return "";
}

}  // namespace

void add_loss(const Scene& scene, PageBuilder& page) {
  const ValueId P = scene.plan.forward_result();
  const Tensor* const result = scene.trace.value(P);
  const std::optional<double> loss = result != nullptr ? loss_of(*scene.whole.loss, *result) : std::nullopt;
  if (scene.whole.loss->kind == Loss::Kind::gradient || (result != nullptr && !loss)) return;
  page.add(StepHeading{std::nullopt, page.say(phrase::loss), "L = " + loss_formula(scene, scene.plan.value(P).symbol), ""});
  const bool has_target = scene.whole.loss->kind != Loss::Kind::sum;
  page.caption(has_target ? Text{"how far {} is from what it should be, as one number", "{} 与应有结果的差距，用一个数表示"}
                          : Text{"all of {} as one number, in which every entry counts the same",
                                 "把 {} 合为一个数，每个元素的分量相同"},
               scene.plan.value(P).symbol);
  if (!loss) return;
  NumberStyle style(scene.options.precision, NumberStyle::Origin::computed);
  style.see(*loss);
  page.add(Work{"L", {{"=", style.text(*loss), {}}}});
}

std::string title_of(const Scene& scene, const Step& step, Place place) {
  const Language language = scene.options.language;
  if (!scene.plan.is_backward(step)) return say(language, name_of(step.id).title);
  const Value &value = scene.plan.value(step.out), &of = scene.plan.value(value.of);
  if (value.gradient == Value::Gradient::row_sums) return say(language, {"Row sums", "各行之和"});
  const std::string name = of.step ? within(name_of(*of.step).title, language) : symbol(scene, value.of, place);
  const bool is_part = value.gradient == Value::Gradient::part;
  if (is_part && step.op == Op::softmax) return say(language, {"Softmax of the result", "结果的 softmax"});
  if (of.step) return say(language, is_part ? phrase::part_of_gradient : phrase::gradient_of, name);
  return say(language, is_part ? phrase::part_for_parameter : phrase::gradient_of_parameter, name);
}

std::string backward_meaning(const Scene& scene, const Step& step, Place place) {
  const Language language = scene.options.language;
  const Value &value = scene.plan.value(step.out), &of = scene.plan.value(value.of);
  const std::string name = symbol(scene, value.of, place);
  if (value.gradient == Value::Gradient::row_sums) return say(language, phrase::row_sums_meaning);
  if (value.gradient == Value::Gradient::part) {
    if (step.op == Op::norm) return say(language, phrase::normalised_alone);
    if (step.op == Op::softmax) return say(language, {"the probabilities that the result stands for", "结果所表示的概率"});
    if (step.op == Op::sum)
      return say(language, {"the parts of all heads and items that share it, added", "共用它的各头、各样本的部分相加"});
    if (!of.step && of.role != Value::Role::input) return say(language, phrase::of_each_item, scene.counted(place.item));
    return say(language, {"what comes back through {}", "经由 {} 传回的部分"}, symbol(scene, step.in[0], place));
  }
  if (step.op == Op::add) return say(language, phrase::parts_are_added, name);
  const bool goes_on = scene.plan.value(step.in[0]).gradient != Value::Gradient::none;
  if (step.op == Op::copy && goes_on && step.id != StepId::output)
    return say(language, {"a sum hands what comes back to each of its terms, unchanged", "加法把传回的梯度原样交给每一项"});
  if (step.op == Op::difference && step.id == StepId::weights) return say(language, phrase::weights_compete);
  if (step.op == Op::sum && value.per_head && of.step) return say(language, phrase::group_is_added, name);
  return say(language, {"how fast the loss rises when an entry of {} does", "{} 的元素增大时，损失增大多快"}, name);
}

}  // namespace mha::show
