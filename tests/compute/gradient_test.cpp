// The laws of a backward pass, on every backend; each case's own gradients are held in tests/python/gradient_test.py.
#include "core/gradient.hpp"

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"
#include "fewer_draws.hpp"

namespace mha::test {
namespace {

// A forward and a backward pass on one backend.
struct Pass {
  Pass(const Problem& problem, const Loss& loss, const Arm& arm) : plan(with_gradient(make_plan(problem), loss)) {
    choose_cpu_variant(arm.kernels);
    trace = run(plan, {values_to_keep(plan, Selection{}, true), arm.dtype, {}, arm.device});
    choose_cpu_variant("");
  }

  const Tensor& d(StepId step) const { return *trace.value(plan.gradient(plan.find(step).value()).value()); }
  const Tensor& operator[](StepId step) const { return *trace.value(plan.find(step).value()); }

  Plan plan;
  Trace trace;
};

Loss gradient_given(Tensor G) {
  return {Loss::Kind::gradient, std::move(G)};
}

const Arm plain_cpu{"cpu f64", {}, Dtype::f64, 1e-12, {}};

}  // namespace

TEST_CASE("what a causal loss on one token gives X is 0 after it, hidden entries and sums of rows are 0",
          "[gradient][opencl]") {
  for (const Arm& arm : every_backend()) {
    Dice dice(5);
    for (std::uint32_t draw = 0; draw < draws(8); ++draw) {
      Sizes sizes = random_sizes(dice);
      sizes.cross = false;
      sizes.keys = sizes.tokens;
      sizes.d_kv = sizes.d_model;
      Problem problem = random_problem(dice, sizes);
      problem.masks.push_back(causal_mask());
      const Index token = dice.whole(0, sizes.tokens - 1);
      Tensor G({sizes.batch, 1, sizes.tokens, sizes.d_out});
      G.fill(0);
      for (Index item = 0; item < sizes.batch; ++item)
        for (Index j = 0; j < sizes.d_out; ++j) G.at(item, 0, token, j) = dice.number();
      const Loss loss = gradient_given(std::move(G));
      const Pass pass(problem, loss, arm);
      INFO(arm.name << " draw " << draw);
      for_each_entry(pass.d(StepId::X).shape(), [&](const Entry& at) {
        if (at.row > token) CHECK(pass.d(StepId::X).at(at) == 0);
      });
      const Tensor& dM = pass.d(StepId::masked);
      for_each_entry(dM.shape(), [&](const Entry& at) {
        if (at.column > at.row) CHECK((dM.at(at) == 0 && pass.d(StepId::scores).at(at) == 0));
        double sum = 0;
        for (Index j = 0; j < dM.shape().cols; ++j) sum += dM.at(at.item, at.head, at.row, j);
        CHECK(std::abs(sum) < 20 * arm.exactness);
      });
    }
  }
}

TEST_CASE("a scaled loss scales every gradient, and every backend gives the same ones", "[gradient][opencl]") {
  Dice dice(6);
  for (std::uint32_t draw = 0; draw < draws(6); ++draw) {
    const Sizes sizes = random_sizes(dice);
    const Problem problem = random_problem(dice, sizes);
    const Tensor G = dice.tensor({sizes.batch, 1, sizes.tokens, sizes.d_out});
    Tensor twice = G;
    for (Index i = 0; i < twice.size(); ++i) twice.data()[i] *= 2;
    const Loss loss = gradient_given(G), doubled = gradient_given(std::move(twice));
    const Pass right(problem, loss, plain_cpu), scaled(problem, doubled, plain_cpu);
    for (std::size_t id = 0; id < right.plan.values.size(); ++id) {
      if (right.plan.values[id].gradient == Value::Gradient::none) continue;
      const Tensor &a = *right.trace.value(static_cast<ValueId>(id)), &b = *scaled.trace.value(static_cast<ValueId>(id));
      for (Index i = 0; i < a.size(); ++i) CHECK(b.data()[i] == 2 * a.data()[i]);
      for (const Arm& arm : every_backend()) {
        INFO(arm.name << " " << right.plan.values[id].symbol << " draw " << draw);
        const Pass other(problem, loss, arm);
        CHECK(difference(*other.trace.value(static_cast<ValueId>(id)), a) < 20 * arm.exactness);
      }
    }
  }
}

TEST_CASE("sums over rows that grow block by block are the products that they are, for every number of threads",
          "[gradient]") {
  Dice dice(14);
  Sizes sizes;
  sizes.tokens = sizes.keys = 210;
  sizes.d_model = sizes.d_kv = 24;
  sizes.heads = sizes.kv_heads = 6;
  sizes.d_k = 20;
  Problem problem = random_problem(dice, sizes);
  problem.masks.push_back(causal_mask());
  const Loss loss = gradient_given(dice.tensor({1, 1, sizes.tokens, sizes.d_out}));
  const Plan plan = with_gradient(make_plan(problem), loss);
  REQUIRE(operations(plan) > operations_worth_threads);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    RunOptions options{values_to_keep(plan, Selection{}, true), dtype, {}};
    const Schedule schedule = make_schedule(plan, options);
    CHECK(std::count(schedule.grows.begin(), schedule.grows.end(), true) >= 2);  // dV and dK of each head
    options.threads = 1;
    const Trace trace = run(plan, options);
    options.threads = 3;
    const Trace several = run(plan, options);
    for (const Step& step : plan.steps) {
      const std::size_t out = static_cast<std::size_t>(step.out);
      CHECK(same_bits(*trace.values[out], *several.values[out]));
      if (!step.first_transposed) continue;
      const Tensor &a = *trace.value(step.in[0]), &b = *trace.value(step.in[1]), &c = *trace.values[out];
      double worst = 0;
      for_each_entry(c.shape(), [&](const Entry& at) {
        double sum = 0;
        for (Index k = 0; k < a.shape().rows; ++k)
          sum += a.at(at.item, broadcast(at.head, a.shape().heads, c.shape().heads), k, at.row) *
                 b.at(at.item, broadcast(at.head, b.shape().heads, c.shape().heads), k, at.column);
        worst = std::max(worst, std::abs(sum - c.at(at)) / std::max(1.0, std::abs(sum)));
      });
      INFO(plan.value(step.out).symbol << " " << dtype_name(dtype));
      CHECK(worst < (dtype == Dtype::f64 ? 1e-12 : 1e-4));
    }
  }
  // Nobody keeps them: dA, dZ and dS exist only as blocks.
  Selection parameters;
  parameters.steps.assign(step_count, false);
  parameters.gradients.assign(step_count, false);
  const Schedule schedule = make_schedule(plan, {values_to_keep(plan, parameters, false), Dtype::f64, {}});
  for (const StepId step : {StepId::weights, StepId::masked, StepId::scaled, StepId::scores})
    CHECK(schedule.only_blocks[static_cast<std::size_t>(*plan.gradient(*plan.find(step)))]);
}

TEST_CASE("a shared key/value head gets the sum over its group", "[gradient]") {
  Dice dice(7);
  Sizes sizes;
  sizes.heads = 4;
  sizes.kv_heads = 2;
  const Problem shared = random_problem(dice, sizes);
  Problem apart = shared;  // the same keys and values, one copy for each query head
  apart.kv_heads = 4;
  const auto copied = [](const Tensor& from) {
    Shape shape = from.shape();
    shape.heads = 4;
    Tensor to(shape);
    for_each_entry(shape, [&](const Entry& at) { to.at(at) = from.at(at.item, at.head / 2, at.row, at.column); });
    return to;
  };
  apart.K = {copied(shared.K.W), copied(*shared.K.b)};
  apart.V = {copied(shared.V.W), copied(*shared.V.b)};
  const Loss loss;
  const Pass a(shared, loss, plain_cpu), b(apart, loss, plain_cpu);
  for (const StepId step : {StepId::K, StepId::V}) {
    const Tensor &total = a.d(step), &each = b.d(step);
    REQUIRE(total.shape().heads == 2);
    for_each_entry(total.shape(), [&](const Entry& at) {
      const double sum = each.at(0, 2 * at.head, at.row, at.column) + each.at(0, 2 * at.head + 1, at.row, at.column);
      CHECK(total.at(at) == Approx(sum));
    });
  }
}

TEST_CASE("rounded by hand, each gradient is one rounding and no part of a sum is", "[gradient]") {
  Dice dice(8);
  const Problem problem = random_problem(dice, Sizes{});
  const Loss loss;
  const Plan plan = with_gradient(make_plan(problem), loss);
  const Trace trace = run(plan, {values_to_keep(plan, Selection{}, true), Dtype::f64, 2});
  bool any_part = false;
  for (const Step& step : plan.steps) {
    const Tensor& value = *trace.value(step.out);
    bool rounded = true;
    for (Index i = 0; i < value.size(); ++i)
      rounded = rounded && std::abs(value.data()[i] * 100 - std::round(value.data()[i] * 100)) < 1e-9;
    const bool is_part = plan.value(step.out).gradient == Value::Gradient::part;
    if (!is_part) CHECK(rounded);
    any_part = any_part || (is_part && !rounded);
  }
  CHECK(any_part);
}

}  // namespace mha::test
