// The OpenCL backend against plain loops and the CPU: each kernel alone, at sizes where tiles and vectors end.
#include <iostream>

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

constexpr std::array<Index, 6> odd_sizes = {1, 2, 3, 17, 65, 129};

ValueId append(Plan& plan, std::string symbol, Shape shape, const Tensor* constant) {
  Value value;
  value.symbol = std::move(symbol);
  value.shape = shape;
  if (constant != nullptr) value.constant = {std::shared_ptr<void>(), constant};
  plan.values.push_back(std::move(value));
  return static_cast<ValueId>(plan.values.size()) - 1;
}

Step step_of(Op op) {
  Step step;
  step.op = op;
  step.id = StepId::weights;
  return step;
}

// One step alone: its operands, which must outlive it, and the shape of its result.
Plan one_step(Step step, const std::vector<const Tensor*>& operands, Shape result) {
  Plan plan;
  for (const Tensor* operand : operands) step.in.push_back(append(plan, "operand", operand->shape(), operand));
  step.out = append(plan, "result", result, nullptr);
  plan.steps.push_back(std::move(step));
  return plan;
}

Tensor result_of(const Plan& plan, const Arm& arm) {
  const Trace trace = run(plan, {std::vector<bool>(plan.values.size(), true), arm.dtype, {}, arm.device});
  return *trace.value(plan.steps.front().out);
}

const Arm& exact_cpu() {
  static const Arm arm{"cpu f64", {}, Dtype::f64, 0};
  return arm;
}

// Σ over p of a[i, p]·b[p, j] in the order of p, from the operands as they are used.
Tensor plain_product(const Step& step, const Tensor& a, const Tensor& b, Shape result) {
  Tensor out(result);
  const Index inner = step.first_transposed ? a.shape().rows : a.shape().cols;
  for (Index item = 0; item < result.batch; ++item)
    for (Index head = 0; head < result.heads; ++head)
      for (Index i = 0; i < result.rows; ++i)
        for (Index j = 0; j < result.cols; ++j) {
          double sum = 0;
          const Index a_item = broadcast(item, a.shape().batch, result.batch);
          const Index a_head = broadcast(head, a.shape().heads, result.heads);
          const Index b_item = broadcast(item, b.shape().batch, result.batch);
          const Index b_head = broadcast(head, b.shape().heads, result.heads);
          for (Index p = 0; p < inner; ++p)
            sum += (step.first_transposed ? a.at(a_item, a_head, p, i) : a.at(a_item, a_head, i, p)) *
                   (step.transposed ? b.at(b_item, b_head, j, p) : b.at(b_item, b_head, p, j));
          out.at(item, head, i, j) = sum;
        }
  return out;
}

void check_product(Dice& dice, Shape a_shape, Shape b_shape, bool first_transposed, bool transposed, const Arm& arm) {
  const Shape result{std::max(a_shape.batch, b_shape.batch), std::max(a_shape.heads, b_shape.heads), a_shape.rows,
                     b_shape.cols};
  if (first_transposed) std::swap(a_shape.rows, a_shape.cols);
  if (transposed) std::swap(b_shape.rows, b_shape.cols);
  const Tensor a = dice.tensor(a_shape), b = dice.tensor(b_shape);
  Step step = step_of(Op::product);
  step.first_transposed = first_transposed;
  step.transposed = transposed;
  const Tensor actual = result_of(one_step(step, {&a, &b}, result), arm);
  INFO(arm.name << " " << result.rows << "x" << a_shape.cols << " to " << result.cols << ", " << first_transposed
                << transposed);
  CHECK(difference(actual, plain_product(step, a, b, result)) < arm.exactness);
}

// Entries of a mask: some −∞, one row of nothing else.
Tensor mask_numbers(Dice& dice, Shape shape) {
  Tensor mask = dice.tensor(shape);
  for (Index i = 0; i < mask.size(); ++i)
    if (dice.whole(0, 3) == 0 || i / shape.cols == 1) mask.data()[i] = -infinity;
  return mask;
}

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

// All steps of the problem, on the arm and exactly.
void check_problem(const Problem& problem, const Arm& arm, const std::string& what) {
  const Run expected(problem), actual(problem, arm);
  for (const Step& step : expected.plan.steps) {
    INFO(what << " " << arm.name << " " << name_of(step.id).id);
    CHECK(difference(*actual.trace.value(step.out), *expected.trace.value(step.out)) < arm.exactness);
  }
}

}  // namespace

TEST_CASE("there is an OpenCL device to test on", "[opencl]") {
  if (!opencl_devices().empty()) {
    CHECK(opencl_arms().size() >= 2);
    CHECK_FALSE(opencl_lack());
    return;
  }
  const std::string lack = opencl_lack()->en;
  if (std::getenv("CI") != nullptr) FAIL("CI must test OpenCL: " << lack);
  std::cerr << "\nOPENCL IS NOT TESTED: " << lack << "\n\n";
}

TEST_CASE("products of any size, tile edges and vector edges among them", "[opencl]") {
  Dice dice(21);
  for (const Arm& arm : opencl_arms())
    for (std::size_t r = 0; r < odd_sizes.size(); ++r)
      for (std::size_t c = 0; c < odd_sizes.size(); ++c)
        for (const std::size_t k : {(r + c) % odd_sizes.size(), (r + 2 * c + 3) % odd_sizes.size()}) {
          const Index rows = odd_sizes[r], cols = odd_sizes[c], inner = odd_sizes[k];
          const bool first = dice.whole(0, 1) == 1, second = dice.whole(0, 1) == 1;
          check_product(dice, {1, 1, rows, inner}, {1, 1, inner, cols}, first, second, arm);
        }
}

TEST_CASE("products in a batch, with heads in groups and operands for all, in every orientation", "[opencl]") {
  Dice dice(22);
  for (const Arm& arm : opencl_arms())
    for (const bool first : {false, true})
      for (const bool second : {false, true}) {
        check_product(dice, {2, 6, 17, 3}, {2, 2, 3, 65}, first, second, arm);
        check_product(dice, {3, 1, 9, 18}, {1, 4, 18, 33}, first, second, arm);
      }
}

TEST_CASE("both product kernels give the same bits", "[opencl]") {
  Dice dice(23);
  const Tensor a = dice.tensor({1, 2, 67, 131}), b = dice.tensor({1, 2, 131, 70});
  const Plan plan = one_step(step_of(Op::product), {&a, &b}, {1, 2, 67, 70});
  const std::vector<Arm> arms = opencl_arms();
  for (const Arm& one : arms)
    for (const Arm& other : arms)
      if (one.dtype == other.dtype) CHECK(same_bits(result_of(plan, one), result_of(plan, other)));
}

TEST_CASE("attention at odd sizes is what the CPU computes", "[opencl]") {
  for (const Index n : odd_sizes)
    for (const Arm& arm : opencl_arms()) {
      Dice dice(24);
      Sizes s;
      s.tokens = s.keys = n;
      s.d_model = 19;
      s.heads = s.kv_heads = 2;
      s.d_k = 18;
      s.d_v = 3;
      Problem p = random_problem(dice, s);
      p.masks = {causal_mask()};
      p.softcap = 3;
      p.rope = Rope{};
      p.rope->dims = 10;
      p.rope->pairing = n % 2 == 0 ? Pairing::half : Pairing::interleaved;
      check_problem(p, arm, std::to_string(n) + " tokens");
    }
}

TEST_CASE("every shape of mask, batches, and heads in groups", "[opencl]") {
  for (const Shape shape :
       {Shape{1, 1, 1, 7}, {2, 1, 1, 7}, {1, 1, 5, 7}, {2, 1, 5, 7}, {1, 6, 5, 7}, {2, 6, 5, 7}, {2, 6, 1, 7}})
    for (const Arm& arm : opencl_arms()) {
      Dice dice(25);
      Sizes s;
      s.batch = 2;
      s.keys = 7;
      s.cross = true;
      s.heads = 6;
      s.kv_heads = 2;
      Problem p = random_problem(dice, s);
      p.masks = {matrix_mask(Mask::Kind::add, mask_numbers(dice, shape)),
                 matrix_mask(Mask::Kind::add, dice.tensor({1, 1, 5, 7})),
                 matrix_mask(Mask::Kind::add, dice.tensor({1, 1, 1, 7}))};
      check_problem(p, arm, "mask");
    }
}

TEST_CASE("softmax: hidden entries are exactly 0, rows without a key too, NaN stays", "[opencl]") {
  for (const Index cols : {1, 2, 63, 64, 65, 129, 200})
    for (const Arm& arm : opencl_arms()) {
      Dice dice(26);
      Tensor z = mask_numbers(dice, {2, 3, 4, cols});
      z.at(1, 2, 3, cols / 2) = std::nan("");
      const Plan plan = one_step(step_of(Op::softmax), {&z}, z.shape());
      const Tensor A = result_of(plan, arm), expected = result_of(plan, exact_cpu());
      for (Index i = 0; i < z.size(); ++i) {
        INFO(arm.name << " " << cols << " entry " << i);
        if (z.data()[i] == -infinity && i / cols != 23) CHECK(A.data()[i] == 0);
        if (i / cols == 23)
          CHECK(std::isnan(A.data()[i]));
        else
          CHECK(std::abs(A.data()[i] - expected.data()[i]) < arm.exactness);
      }
    }
}

TEST_CASE("split, merge and copy put every number in its place", "[opencl]") {
  for (const Index n : odd_sizes)
    for (const Index d : {1, 17, 65})
      for (const Arm& arm : opencl_arms()) {
        Dice dice(29);
        const Tensor whole = dice.tensor({2, 1, n, 3 * d}), heads = dice.tensor({2, 3, n, d});
        const auto check = [&](Op op, const Tensor& from, const Tensor& to) {
          const Plan plan = one_step(step_of(op), {&from}, to.shape());
          INFO(arm.name << " " << info_of(op).name << " " << n << "x" << d);
          CHECK(difference(result_of(plan, arm), result_of(plan, exact_cpu())) < arm.exactness);
        };
        check(Op::split, whole, heads);
        check(Op::merge, heads, whole);
        check(Op::copy, whole, whole);
      }
}

TEST_CASE("rounding by hand on the device is rounding by hand", "[opencl]") {
  Dice dice(27);
  const Problem p = random_problem(dice, {});
  for (const Arm& arm : opencl_arms()) {
    if (arm.dtype == Dtype::f32) continue;
    const Run expected(p, Dtype::f64, 2);
    const Plan plan = make_plan(p);
    const Trace trace = run(plan, {values_to_keep(plan, Selection{}, true), arm.dtype, 2, arm.device});
    for (const Step& step : plan.steps) CHECK(same_bits(*trace.value(step.out), *expected.trace.value(step.out)));
  }
}

TEST_CASE("on a device values stand whole, and only what is kept comes back", "[opencl]") {
  Dice dice(28);
  const Problem p = random_problem(dice, {});
  const Plan plan = make_plan(p);
  for (const Arm& arm : opencl_arms()) {
    std::vector<bool> keep(plan.values.size(), false);
    keep[static_cast<std::size_t>(*plan.find(StepId::weights))] = true;
    const RunOptions options{keep, arm.dtype, {}, arm.device};
    for (const Schedule::Group& group : make_schedule(plan, options).groups) CHECK(group.block_rows == 0);
    const Trace trace = run(plan, options);
    CHECK(trace.device.starts_with("opencl:0 ("));
    for (std::size_t id = 0; id < keep.size(); ++id) CHECK((trace.values[id] != nullptr) == keep[id]);
  }
}

TEST_CASE("a number that float32 cannot hold is refused, not made infinite", "[opencl]") {
  Tensor a({1, 1, 1, 1});
  a.fill(1e300);
  const Plan plan = one_step(step_of(Op::copy), {&a}, a.shape());
  for (const Arm& arm : opencl_arms())
    if (arm.dtype == Dtype::f32)
      CHECK(refusal([&] { result_of(plan, arm); }) ==
            "operand holds 1e+300, which f32 cannot hold; compute with --dtype f64");
    else
      CHECK(result_of(plan, arm).data()[0] == 1e300);
}

TEST_CASE("what only simulated mistakes compute is refused by the device", "[opencl]") {
  Tensor a({1, 2, 3, 4});
  a.fill(1);
  for (const Arm& arm : opencl_arms()) {
    const auto throws = [&](const Step& step, Shape result) {
      const std::string said = refusal([&] { result_of(one_step(step, {&a}, result), arm); });
      CHECK(said.find("use --device cpu") != std::string::npos);
    };
    throws(step_of(Op::reshape), a.shape());
    Step by_column = step_of(Op::norm);
    by_column.norm.by_column = true;
    throws(by_column, a.shape());
    throws(step_of(Op::pool), {1, 1, 3, 4});
    Step columns = step_of(Op::softmax);
    columns.softmax.over = Softmax::Over::column;
    throws(columns, a.shape());
    Step reversed = step_of(Op::merge);
    reversed.arrangement = Arrangement::reversed;
    throws(reversed, {1, 1, 3, 8});
  }
}

}  // namespace mha::test
