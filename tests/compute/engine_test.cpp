// The engine: what is kept never changes what is computed, and values that nobody keeps never stand whole.
#include "catch.hpp"
#include "compute/cost.hpp"
#include "compute/cpu_rows.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

Problem long_problem(Index tokens) {
  Dice dice(3);
  Sizes s;
  s.tokens = s.keys = tokens;
  s.d_model = 33;
  s.d_k = 17;
  Problem p = random_problem(dice, s);
  p.masks = {causal_mask()};
  p.softcap = 5;
  return p;
}

std::vector<bool> only(const Plan& plan, StepId step) {
  Selection selection;
  selection.steps.assign(step_count, false);
  selection.steps[static_cast<std::size_t>(step)] = true;
  return values_to_keep(plan, selection, false);
}

}  // namespace

TEST_CASE("the output has the same bits whatever is kept", "[engine]") {
  for (const Index tokens : {1, 2, 63, 64, 65, 129, 200})
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const Problem p = long_problem(tokens);
      const Run all(p, dtype);
      const Trace output = run(all.plan, {only(all.plan, StepId::output), dtype, {}});
      const ValueId id = *all.plan.find(StepId::output);
      CHECK(same_bits(*output.value(id), all[StepId::output]));
      CHECK(output.value(*all.plan.find(StepId::weights)) == nullptr);
      const Trace weights = run(all.plan, {only(all.plan, StepId::weights), dtype, {}});
      CHECK(same_bits(*weights.value(*all.plan.find(StepId::weights)), all[StepId::weights]));
    }
}

TEST_CASE("the results have the same bits for every number of threads", "[engine]") {
  const Problem p = long_problem(330);  // large enough for the engine to start them
  const Plan plan = make_plan(p);
  REQUIRE(operations(plan) > operations_worth_threads);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const bool all : {true, false}) {
      const std::vector<bool> keep = all ? values_to_keep(plan, Selection{}, false) : only(plan, StepId::output);
      RunOptions options{keep, dtype, {}};
      options.threads = 1;
      const Trace one = run(plan, options);
      for (const int threads : {0, 2, 3, 7}) {
        options.threads = threads;
        const Trace several = run(plan, options);
        for (std::size_t id = 0; id < plan.values.size(); ++id)
          if (keep[id]) CHECK(same_bits(*several.values[id], *one.values[id]));
      }
    }
}

TEST_CASE("from scores to weights, what nobody keeps exists only as blocks", "[engine]") {
  const Problem p = long_problem(200);
  const Plan plan = make_plan(p);
  const Schedule schedule = make_schedule(plan, {only(plan, StepId::scaled), Dtype::f64, {}});
  const auto is_block = [&](StepId step) { return schedule.only_blocks[static_cast<std::size_t>(*plan.find(step))]; };
  for (const StepId step : {StepId::scores, StepId::capped, StepId::masked, StepId::weights}) CHECK(is_block(step));
  for (const StepId step :
       {StepId::Q, StepId::K, StepId::V, StepId::scaled, StepId::head_output, StepId::concat, StepId::output})
    CHECK_FALSE(is_block(step));
}

TEST_CASE("rounding by hand rounds each step before the next one reads it", "[engine]") {
  Dice dice(4);
  const Problem p = random_problem(dice, {});
  const Run rounded(p, Dtype::f64, 2);
  const Run exact(p);
  for (const Step& step : rounded.plan.steps) {
    const Tensor& value = rounded[step.id];
    for (Index i = 0; i < value.size(); ++i) {
      const double hundredths = value.data()[i] * 100;
      CHECK(std::abs(hundredths - std::round(hundredths)) < 1e-9);
    }
  }
  CHECK(difference(rounded[StepId::output], exact[StepId::output]) < 0.1);
  CHECK(difference(rounded[StepId::output], exact[StepId::output]) > 1e-4);
}

TEST_CASE("a row of scores that holds NaN is NaN, wherever it stands, and no row without a key", "[engine]") {
  const double nan = std::nan("");
  for (const std::vector<double>& row : {std::vector<double>{nan, -infinity}, {-infinity, nan}, {nan, 1}, {1, nan}}) {
    std::vector<double> weights(2);
    softmax_row(row.data(), 2, weights.data());
    CHECK(std::isnan(weights[0]));
    CHECK(std::isnan(weights[1]));
  }
}

TEST_CASE("operands are kept when a page wants to show them", "[engine]") {
  Dice dice(5);
  const Problem p = random_problem(dice, {});
  const Plan plan = make_plan(p);
  Selection scores;
  scores.steps.assign(step_count, false);
  scores.steps[static_cast<std::size_t>(StepId::scores)] = true;
  const Trace trace = run(plan, {values_to_keep(plan, scores, true), Dtype::f64, {}});
  CHECK(trace.value(*plan.find(StepId::Q)) != nullptr);
  CHECK(trace.value(*plan.find(StepId::K)) != nullptr);
  CHECK(trace.value(*plan.find(StepId::V)) == nullptr);
}

}  // namespace mha::test
