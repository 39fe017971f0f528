// Radii are bounds: whatever the operands are within theirs, the result stays within its own; and they are not idle.
#include "study/check/tolerance.hpp"

#include <cmath>

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "study/check/softmax_bounds.hpp"
#include "study/mistakes/mistake.hpp"
#include "study/check/plan_rows.hpp"
#include "study/random_study_problem.hpp"

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

// Every computed value of the plan, its operands moved by up to their radii, stays within the radius of the right one. The
// inputs X are off by `radius`.
void check_bounds(const Plan& plan, double radius, Dice& dice) {
  const RowPlan rows(plan);
  const auto backend = make_cpu_backend(rows.plan, rows.schedule, Dtype::f64);
  const auto moved = make_cpu_backend(rows.plan, rows.schedule, Dtype::f64);
  std::vector<Uncertain> values(rows.plan.values.size());
  for (std::size_t id = 0; id < values.size(); ++id) {
    const Value& value = rows.plan.values[id];
    if (!value.constant) continue;
    backend->set(static_cast<ValueId>(id), value.constant);
    moved->set(static_cast<ValueId>(id), value.constant);
    values[id].numbers = value.constant;
    if (value.role != Value::Role::input) continue;
    auto off = std::make_shared<Tensor>(*value.constant), radii = std::make_shared<Tensor>(value.shape);
    radii->fill(radius);
    for (Index i = 0; i < off->size(); ++i) off->data()[i] += radius * dice.number();
    moved->set(static_cast<ValueId>(id), off);
    values[id].radius = radii;
  }
  for (const Step& step : rows.plan.steps) {
    if (acts_alike_on_radii(step)) return;  // the rest is placing
    const Shape& shape = rows.plan.value(step.out).shape;
    const Part whole{{0, shape.batch}, {0, shape.heads}, {0, shape.rows}};
    backend->run(step, whole);
    moved->run(step, whole);
    Uncertain& result = values[static_cast<std::size_t>(step.out)];
    result.numbers = backend->get(step.out);
    result.radius = result_radius(rows.plan, step, values, *result.numbers, 1e-15);
    for (Index i = 0; i < shape.size(); ++i) {
      const double right = result.numbers->data()[i], other = moved->get(step.out)->data()[i];
      if (!std::isfinite(right)) continue;
      CHECK(std::abs(right - other) <= result.radius->data()[i]);
    }
  }
}

}  // namespace

TEST_CASE("a softmax moves no further than its bounds, and reaches them", "[tolerance]") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    Softmax rule;
    rule.power = round % 3 == 0 ? Softmax::Power::two : Softmax::Power::e;
    rule.one_more = round % 4 == 0;
    rule.maximum_subtracted = round % 8 != 0;
    std::vector<Exponent> slice;
    std::vector<double> z;
    for (int i = 0; i < 4; ++i) {
      slice.push_back({3 * dice.number(), std::abs(dice.number()) / 5});
      z.push_back(slice.back().z);
    }
    const std::vector<double> value = softmax_of(z, rule), radii = softmax_radii(slice, rule);
    for (int draw = 0; draw < 20; ++draw) {
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = slice[i].z + slice[i].radius * dice.number();
      const std::vector<double> other = softmax_of(z, rule);
      for (std::size_t i = 0; i < z.size(); ++i) CHECK(std::abs(other[i] - value[i]) <= radii[i] + 1e-12);
    }
    if (rule.one_more) continue;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = slice[i].z + (i == 0 ? 1 : -1) * slice[i].radius;
    const double high = softmax_of(z, rule)[0];
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = slice[i].z - (i == 0 ? 1 : -1) * slice[i].radius;
    const double low = softmax_of(z, rule)[0];
    CHECK(std::max(high - value[0], value[0] - low) == Approx(radii[0]).epsilon(1e-9));
  }
}

TEST_CASE("exact exponents give exact weights; a hidden entry stays 0; nothing is known of a quotient by 0",
          "[tolerance]") {
  const double hidden = -std::numeric_limits<double>::infinity();
  for (const double radius : softmax_radii({{1, 0}, {2, 0}, {hidden, 0}}, {})) CHECK(radius < 1e-15);
  CHECK(softmax_radii({{1, 0.1}, {hidden, 0.1}}, {})[1] == 0);
  CHECK(softmax_radii({{hidden, 0.1}, {hidden, 0.1}}, {}) == std::vector<double>{0, 0});
  Softmax quotient;
  quotient.power = Softmax::Power::none;
  CHECK(std::isinf(softmax_radii({{1, 0.1}, {-1, 0.1}}, quotient)[0]));
  CHECK(softmax_radii({{1, 0.1}, {3, 0.1}}, quotient)[0] == Approx((0.1 + 0.25 * 0.2) / 3.8));
}

TEST_CASE("each step's result stays within its radius", "[tolerance]") {
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
