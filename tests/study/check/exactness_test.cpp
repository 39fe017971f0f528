// Radii are bounds: whatever the operands are within theirs, the result stays within its own; and they are not idle.
#include "study/check/exactness.hpp"

#include <cmath>

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "study/check/random_study_problem.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::test {
namespace {

std::vector<double> softmax_of(const std::vector<double>& z, const Softmax& rule) {
  const auto power = [&](double x) { return rule.power == Softmax::Power::two ? std::exp2(x) : std::exp(x); };
  double largest = *std::max_element(z.begin(), z.end()), sum = 0;
  if (rule.one_more) sum += rule.maximum_subtracted ? power(largest) : 1;
  std::vector<double> result;
  for (const double x : z) sum += power(x);
  for (const double x : z) result.push_back(power(x) / sum);
  return result;
}

// The radii of the weights of one row of scores.
std::vector<double> softmax_radii(const std::vector<double>& z, const std::vector<double>& z_radii, const Softmax& rule,
                                  const FloatingPoint& arithmetic = {}) {
  const Shape shape{1, 1, 1, static_cast<Index>(z.size())};
  const auto row = [&](const std::vector<double>& numbers) {
    auto tensor = std::make_shared<Tensor>(shape);
    std::copy(numbers.begin(), numbers.end(), tensor->data());
    return tensor;
  };
  Plan plan;
  plan.values.resize(2);
  for (Value& value : plan.values) value.shape = shape;
  Step step{Op::softmax, StepId::weights, {0}, 1};
  step.softmax = rule;
  plan.steps.push_back(step);
  const RowPlan rows(plan);
  StepTaker steps(rows);
  const std::vector<Uncertain> operands{{row(z), row(z_radii)}};
  const auto result = steps.result(rows.plan.steps.front(), operands);
  const auto radius = steps.radius(rows.plan.steps.front(), operands, *result, arithmetic);
  return {radius->data(), radius->data() + shape.size()};
}

// Every computed value of the plan, its operands moved by up to their radii, stays within the radius of the right one. The
// inputs X are off by `radius`.
void check_bounds(const Plan& plan, double radius, Dice& dice) {
  const RowPlan rows(plan);
  StepTaker steps(rows);
  std::vector<Uncertain> values(rows.plan.values.size()), moved(values.size());
  for (std::size_t id = 0; id < values.size(); ++id) {
    const Value& value = rows.plan.values[id];
    if (!value.constant) continue;
    values[id].numbers = moved[id].numbers = value.constant;
    if (value.role != Value::Role::input) continue;
    auto off = std::make_shared<Tensor>(*value.constant), radii = std::make_shared<Tensor>(value.shape);
    radii->fill(radius);
    for (Index i = 0; i < off->size(); ++i) off->data()[i] += radius * dice.number();
    moved[id].numbers = off;
    values[id].radius = radii;
  }
  for (const Step& step : rows.plan.steps) {
    std::vector<Uncertain> operands, others;
    for (const ValueId id : step.in) {
      operands.push_back(values[static_cast<std::size_t>(id)]);
      others.push_back(moved[static_cast<std::size_t>(id)]);
    }
    Uncertain &right = values[static_cast<std::size_t>(step.out)], &other = moved[static_cast<std::size_t>(step.out)];
    right.numbers = steps.result(step, operands);
    right.radius = steps.radius(step, operands, *right.numbers, {1e-15, 0});
    other.numbers = steps.result(step, others);
    for (Index i = 0; i < right.numbers->size(); ++i) {
      const double number = right.numbers->data()[i];
      if (std::isfinite(number)) CHECK(std::abs(number - other.numbers->data()[i]) <= right.radius->data()[i]);
    }
  }
}

}  // namespace

TEST_CASE("a softmax moves no further than its bounds, and reaches them", "[exactness]") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    Softmax rule;
    rule.power = round % 3 == 0 ? Softmax::Power::two : Softmax::Power::e;
    rule.one_more = round % 4 == 0;
    rule.maximum_subtracted = round % 8 != 0;
    std::vector<double> middle, off;
    for (int i = 0; i < 4; ++i) {
      middle.push_back(3 * dice.number());
      off.push_back(std::abs(dice.number()) / 5);
    }
    std::vector<double> z = middle;
    const std::vector<double> value = softmax_of(z, rule), radii = softmax_radii(z, off, rule);
    for (int draw = 0; draw < 20; ++draw) {
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = middle[i] + off[i] * dice.number();
      const std::vector<double> other = softmax_of(z, rule);
      for (std::size_t i = 0; i < z.size(); ++i) CHECK(std::abs(other[i] - value[i]) <= radii[i] + 1e-12);
    }
    if (rule.one_more) continue;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = middle[i] + (i == 0 ? 1 : -1) * off[i];
    const double high = softmax_of(z, rule)[0];
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = middle[i] - (i == 0 ? 1 : -1) * off[i];
    const double low = softmax_of(z, rule)[0];
    CHECK(std::max(high - value[0], value[0] - low) == Approx(radii[0]).epsilon(1e-9));
  }
}

TEST_CASE("exact exponents give exact weights; a hidden entry stays 0; nothing is known of a quotient by 0",
          "[exactness]") {
  const double hidden = -std::numeric_limits<double>::infinity();
  CHECK(softmax_radii({1, 2, hidden}, {0, 0, 0}, {}) == std::vector<double>{0, 0, 0});
  CHECK(softmax_radii({1, hidden}, {0.1, 0.1}, {})[1] == 0);
  CHECK(softmax_radii({hidden, hidden}, {0.1, 0.1}, {}) == std::vector<double>{0, 0});
  Softmax quotient;
  quotient.power = Softmax::Power::none;
  CHECK(std::isinf(softmax_radii({1, -1}, {0.1, 0.1}, quotient)[0]));
  CHECK(softmax_radii({1, 3}, {0.1, 0.1}, quotient)[0] == Approx((0.1 + 0.25 * 0.2) / 3.8));
}

TEST_CASE("a softmax in float32 is as exact as its scores are near to their maximum", "[exactness]") {
  const FloatingPoint floats{std::numeric_limits<float>::epsilon(), std::numeric_limits<float>::min()};
  Dice dice(3);
  double nearest = 0;
  for (int round = 0; round < 500; ++round) {
    const double size = std::pow(10, 2.3 * (round % 10) / 10);  // of scores up to 200 apart
    std::vector<float> scores, powers;
    for (int i = 0; i < 2 + round % 30; ++i) scores.push_back(static_cast<float>(size * dice.number()));
    const float largest = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (const float z : scores) sum += powers.emplace_back(std::exp(z - largest));
    const std::vector<double> z(scores.begin(), scores.end());
    const std::vector<double> right = softmax_of(z, {}),
                              radii = softmax_radii(z, std::vector<double>(z.size(), 0), {}, floats);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double weight = powers[i] / sum;
      CHECK(std::abs(weight - right[i]) <= radii[i]);
      CHECK(radii[i] <= 1.2e-7 * (60 + 2 * size) * right[i] + 1.2e-38);
      if (right[i] > 1e-30) nearest = std::max(nearest, std::abs(weight - right[i]) / radii[i]);
    }
  }
  CHECK(nearest > 0.1);
}

TEST_CASE("each step's result stays within its radius", "[exactness]") {
  Dice dice(2);
  for (const StudyVariant& variant : study_variants) {
    const Problem problem = variant.draw(1);
    CAPTURE(variant.name);
    for (const double radius : {1e-6, 0.005, 0.05}) {
      check_bounds(answer_plan(problem), radius, dice);
      for (const std::string_view id : {"k_not_transposed", "scores_transposed", "softmax_columns", "softmax_heads",
                                        "softmax_all", "softmax_plus_one", "softmax_base2", "mask_multiplied"})
        for (const Variant& form : find_mistake(id)->variants(problem)) check_bounds(form.plan, radius, dice);
    }
  }
}

}  // namespace mha::test
