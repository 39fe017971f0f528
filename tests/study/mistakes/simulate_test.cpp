// What plans give, and how far apart two results are.
#include "catch.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
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
