// Running a plan from a person's own numbers.
#include "catch.hpp"
#include "study/mistake_problem.hpp"

namespace mha::test {
namespace {

// All entries one higher than the right ones.
Given shifted(const Written& right, StepId step) {
  auto numbers = std::make_shared<Tensor>(get(right, step));
  for (Index i = 0; i < numbers->size(); ++i) numbers->data()[i] += 1;
  return {numbers, {}};
}

Substitution with(StepId step, Given given) {
  Substitution all;
  all[static_cast<std::size_t>(step)] = std::move(given);
  return all;
}

}  // namespace

TEST_CASE("later steps follow from the given numbers, earlier ones do not change", "[simulate]") {
  const Problem p = standard_problem();
  const Plan plan = answer_plan(p);
  const Written right = right_result(p);
  const Given scores = shifted(right, StepId::scores);
  const Written own = written(plan, simulate(plan, with(StepId::scores, scores), StepId::scaled));
  CHECK(distance(get(own, StepId::Q), get(right, StepId::Q)) == 0);
  CHECK(distance(get(own, StepId::scores), *scores.numbers) == 0);
  const double scale = 1 / std::sqrt(2.0);
  for (Index i = 0; i < scores.numbers->size(); ++i)
    CHECK(std::abs(get(own, StepId::scaled).data()[i] - scores.numbers->data()[i] * scale) < 1e-12);
  CHECK(distance(get(own, StepId::weights), get(right, StepId::weights)) < 1e-12);  // one more in a row changes nothing
}

TEST_CASE("numbers of the steps from `from` on, and of another shape, are passed over", "[simulate]") {
  const Problem p = standard_problem();
  const Plan plan = answer_plan(p);
  const Written right = right_result(p);
  const Substitution weights = with(StepId::weights, shifted(right, StepId::weights));
  CHECK_FALSE(first_difference(written(plan, simulate(plan, weights, StepId::weights)), right).has_value());
  CHECK(first_difference(written(plan, simulate(plan, weights, StepId::head_output)), right) == StepId::weights);
  const Substitution wrong_shape = with(StepId::weights, {std::make_shared<Tensor>(matrix({{1}})), {}});
  CHECK_FALSE(first_difference(written(plan, simulate(plan, wrong_shape, StepId::output)), right).has_value());
}

TEST_CASE("only the heads that were given are replaced", "[simulate]") {
  const Problem p = standard_problem();
  const Plan plan = answer_plan(p);
  const Written right = right_result(p);
  Given V = shifted(right, StepId::V);
  V.heads = {false, true, false};
  const Written own = written(plan, simulate(plan, with(StepId::V, V), StepId::scores));
  for (Index head = 0; head < 3; ++head)
    for (Index i = 0; i < 10; ++i)
      CHECK(own[static_cast<std::size_t>(StepId::head_output)]->matrix(0, head)[i] ==
            Approx(get(right, StepId::head_output).matrix(0, head)[i] + (head == 1 ? 1 : 0)));
}

TEST_CASE("a mistake is made on the given numbers", "[simulate]") {
  const Problem p = standard_problem();
  const Plan plan = mistake("no_scale").variants(p).front().plan;
  const Given scores = shifted(right_result(p), StepId::scores);
  const Written own = written(plan, simulate(plan, with(StepId::scores, scores), StepId::scaled));
  CHECK(distance(get(own, StepId::scaled), *scores.numbers) == 0);
}

TEST_CASE("answers give grouped keys and values once for each query head", "[simulate]") {
  Sizes s = standard_sizes();
  s.heads = 6;
  s.kv_heads = 2;
  for (const bool packed : {false, true}) {
    const Problem p = packed ? packed_form(standard_problem(4, s)) : standard_problem(4, s);
    const Written right = right_result(p);
    CHECK(get(right, StepId::K).shape() == Shape{1, 6, 5, 2});
    CHECK(get(right, StepId::V).shape() == Shape{1, 6, 5, 2});
    const Plan plain = make_plan(p);
    CHECK(distance(get(written(plain, simulate(plain)), StepId::output), get(right, StepId::output)) < 1e-12);
    for (Index head = 0; head < 6; ++head)
      CHECK(std::equal(get(right, StepId::K).matrix(0, head), get(right, StepId::K).matrix(0, head) + 10,
                       get(right, StepId::K).matrix(0, head / 3 * 3)));
  }
}

TEST_CASE("distances: other shapes are infinitely far, NaN is like NaN only", "[simulate]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  CHECK(distance(matrix({{1, 2}}), matrix({{1}, {2}})) == inf);
  CHECK(distance(matrix({{nan, -inf}}), matrix({{nan, -inf}})) == 0);
  CHECK(distance(matrix({{nan}}), matrix({{1}})) == inf);
  CHECK(distance(matrix({{1}}), matrix({{nan}})) == inf);
  CHECK(distance(matrix({{inf}}), matrix({{-inf}})) == inf);
  CHECK(distance(matrix({{1}}), matrix({{inf}})) == inf);
  CHECK(distance(matrix({{0.5}}), matrix({{0.25}})) == 0.25);
  CHECK(distance(matrix({{110}}), matrix({{100}})) == 0.1);
}

}  // namespace mha::test
