// Right work that does not look like the formulas, each form as a changed plan. What concerns the scale, the mask and rows
// without a key goes together freely.
#include "study/check/fair_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/mask.hpp"
#include "study/mistakes/hidden_keys.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

constexpr Text scale_on_q = {"the scale was put on Q: the scaled scores are the same",
                             "缩放因子乘在了 Q 上：缩放后的分数相同"};
constexpr Text scale_on_both = {"the root of the scale was put on Q and on K: the scaled scores are the same",
                                "缩放因子的平方根分别乘在了 Q 和 K 上：缩放后的分数相同"};
constexpr Text scale_in_scores = {"the scores were written down already scaled", "写下的分数已经缩放过"};
constexpr Text multiplied_by = {
    "{}the scores were multiplied by {}, which is 1/√d_k rounded: the scaled scores follow from it",
    "{}注意力分数乘的是 {}，即舍入后的 1/√d_k：缩放后的分数由它得出"};
constexpr Text divided_by = {"{}the scores were divided by {}, which is √d_k rounded: the scaled scores follow from it",
                             "{}注意力分数除的是 {}，即舍入后的 √d_k：缩放后的分数由它得出"};
constexpr Text in_some_heads = {"in some heads ", "在一部分头里，"};
constexpr Text mask_renormalised = {
    "the mask came after the softmax, and each row was divided by its sum: the weights are the same",
    "在 softmax 之后加掩码并重新归一化：权重相同"};
constexpr Text keyless_nan = {"a row without a key has the weights NaN here: mha gives it 0",
                              "没有可看的键的行在这里权重为 NaN：mha 取 0"};
constexpr Text keyless_uniform = {"a row without a key has equal weights here: mha gives it 0",
                                  "没有可看的键的行在这里权重相等：mha 取 0"};

constexpr Text keyless_filled = {
    "a row without a key has the weights of its scores here, a large number less: mha gives it 0",
    "没有可看的键的行在这里的权重由减去一个大数的分数得出：mha 取 0"};
// Doubles keep no fewer digits of a score beside it than beside the usual −1e9, and that is what is allowed for.
constexpr double usual_fill = -2.5e5;

struct Choice {
  std::vector<Saying> remarks;
  StepId rejoins = StepId::X;
  std::function<void(PlanEditor& edit, const Problem& problem)> change;  // empty: as the formulas say
};
using Choices = std::vector<Choice>;

void multiply_by(PlanEditor& edit, StepId id, double factor) {
  edit.append({Op::multiply, id, {edit.constant("scale", factor)}});
}

Choices scale_choices(const Problem& problem) {
  Choices choices(1);
  if (problem.scale.kind == Scale::Kind::none || !(problem.scale_factor() > 0)) return choices;
  choices.push_back({{scale_on_q}, StepId::scaled, [](PlanEditor& edit, const Problem& p) {
                       multiply_by(edit, product_of(Q_projection, p), p.scale_factor());
                       edit.leave_out(StepId::scaled);
                     }});
  choices.push_back({{scale_on_both}, StepId::scaled, [](PlanEditor& edit, const Problem& p) {
                       for (const Projection& projection : {Q_projection, K_projection})
                         multiply_by(edit, product_of(projection, p), std::sqrt(p.scale_factor()));
                       edit.leave_out(StepId::scaled);
                     }});
  choices.push_back({{scale_in_scores}, StepId::scaled, [](PlanEditor& edit, const Problem& p) {
                       multiply_by(edit, StepId::scores, p.scale_factor());
                       edit.leave_out(StepId::scaled);
                     }});
  if (problem.packed)  // after the heads were cut from the packed product
    choices.push_back({{scale_on_q}, StepId::scaled, [](PlanEditor& edit, const Problem& p) {
                         multiply_by(edit, StepId::Q, p.scale_factor());
                         edit.leave_out(StepId::scaled);
                       }});
  return choices;
}

Choices factor_choices(const Problem& problem, const Factors& factors) {
  Tensor numbers({1, problem.heads, 1, 1});
  for (std::size_t head = 0; head < factors.size(); ++head) {
    numbers.data()[head] = factors[head].number == 0 ? problem.scale_factor() : factors[head].value();
  }
  std::vector<Saying> remarks;
  const std::set<ScaleFactor> different(factors.begin(), factors.end());
  const Text heads = different.size() > 1 ? in_some_heads : Text{};
  for (const auto& [divides, number] : different)
    if (number != 0) remarks.push_back(say(divides ? divided_by : multiplied_by, heads, number));
  return {{remarks, StepId::scaled, [numbers](PlanEditor& edit, const Problem&) {
             edit.step(StepId::scaled).in[1] = edit.constant("scale", numbers);
           }}};
}

// The unmasked scores are handed in as masked, and the softmax reads the masked ones all the same.
void mask_put_after_softmax(PlanEditor& edit, const Problem&) {
  const Step sum = edit.step(StepId::masked);
  edit.replace({Op::copy, StepId::masked, {unhidden_scores(edit)}});
  Step hidden = sum;
  hidden.id = StepId::weights;
  const ValueId masked = edit.insert(std::move(hidden));
  edit.step(StepId::weights).in[0] = masked;
}

Choices mask_choices(const Plan& right) {
  Choices choices(1);
  if (keep_of(right) && weights_sum_to_one(right))
    choices.push_back({{mask_renormalised}, StepId::weights, mask_put_after_softmax});
  return choices;
}

void empty_is_nan(PlanEditor& edit, const Problem&) {
  edit.step(StepId::weights).softmax.empty_is_nan = true;
}

// Rows of the scores in which the masks hide every key, so that a softmax divides 0 by 0.
std::vector<Row> keyless_rows(const Problem& problem) {
  const Plan right = make_plan(problem);
  if (!weights_sum_to_one(right)) return {};
  std::vector<const Tensor*> masks;
  for (const Value& value : right.values)
    if (value.role == Value::Role::mask) masks.push_back(value.constant.get());
  return rows_without_key({problem.batch(), problem.heads, problem.queries(), problem.keys()}, masks);
}

// 1/m is added to what is 0 in these rows.
void empty_is_uniform(PlanEditor& edit, const Problem& problem) {
  Tensor shares({problem.batch(), problem.heads, problem.queries(), 1});
  shares.fill(0);
  for (const Row& row : keyless_rows(problem))
    shares.at(row.item, row.head, row.query, 0) = 1 / static_cast<double>(problem.keys());
  edit.append({Op::add, StepId::weights, {edit.constant("1/m", std::move(shares))}});
}

// A number as programs add it in place of −∞, once for each mask, in these rows alone.
void empty_is_filled(PlanEditor& edit, const Problem&) {
  if (edit.step(StepId::masked).op != Op::add) return;
  std::vector<std::shared_ptr<const Tensor>> masks;
  for (const ValueId id : edit.step(StepId::masked).in)
    if (edit.operand(id).role == Value::Role::mask) masks.push_back(edit.operand(id).constant);
  const Shape shape = edit.operand(edit.value(StepId::masked)).shape;
  const auto fill = [shape, masks](Index row, double* to) {
    std::fill_n(to, shape.cols, 0.0);
    each_hidden_key(masks, shape, row, [&](Index key) { to[key] += usual_fill; });
    if (std::find(to, to + shape.cols, 0.0) == to + shape.cols) return;
    for (Index j = 0; j < shape.cols; ++j) to[j] = to[j] == 0 ? 0 : minus_infinity;
  };
  std::vector<ValueId> terms = unhidden_terms(edit);
  terms.push_back(edit.constant("mask", by_rule(shape, fill)));
  edit.replace({Op::add, StepId::masked, std::move(terms)});
}

Choices keyless_choices(const Problem& problem) {
  Choices choices(1);
  if (keyless_rows(problem).empty()) return choices;
  choices.push_back({{keyless_nan}, StepId::weights, empty_is_nan});
  choices.push_back({{keyless_uniform}, StepId::weights, empty_is_uniform});
  choices.push_back({{keyless_filled}, StepId::weights, empty_is_filled});
  return choices;
}

}  // namespace

Factors rounded_factors(Index d_k, const std::set<int>& decimals) {
  const double root = std::sqrt(static_cast<double>(d_k));
  Factors factors;
  if (root == std::round(root)) return factors;
  for (const int count : decimals) {
    const double unit = std::pow(10.0, count);
    for (const ScaleFactor factor :
         {ScaleFactor{false, std::round(unit / root) / unit}, {true, std::round(unit * root) / unit}})
      if (factor.number != 0 && std::find(factors.begin(), factors.end(), factor) == factors.end())
        factors.push_back(factor);
  }
  return factors;
}

std::vector<FairForm> fair_forms(const Problem& problem, const Factors& factors) {
  const Plan right = make_plan(problem);
  std::vector<FairForm> forms;
  for (const Choice& scale : factors.empty() ? scale_choices(problem) : factor_choices(problem, factors))
    for (const Choice& mask : mask_choices(right))
      for (const Choice& keyless : keyless_choices(problem)) {
        FairForm form{right, {}, StepId::X};
        PlanEditor edit(right);
        for (const Choice* choice : {&scale, &mask, &keyless}) {
          if (!choice->change) continue;
          choice->change(edit, problem);
          form.remarks.insert(form.remarks.end(), choice->remarks.begin(), choice->remarks.end());
          form.rejoins = std::max(form.rejoins, choice->rejoins);
        }
        if (form.remarks.empty()) continue;
        if (std::optional<Plan> plan = std::move(edit).finish()) {
          form.plan = as_answered(std::move(*plan), problem);
          forms.push_back(std::move(form));
        }
      }
  return forms;
}

}  // namespace mha::study
