// The plan: its steps in the order of the paper, with their shapes, and only those that the problem asks for.
#include "core/plan.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

Tensor zeros(Shape shape) {
  Tensor tensor(shape);
  tensor.fill(0);
  return tensor;
}

// 3 tokens, d_model 4, 2 heads of width 2.
Problem per_head() {
  Problem p;
  p.heads = p.kv_heads = 2;
  p.X = zeros({1, 1, 3, 4});
  p.Q.W = p.K.W = p.V.W = zeros({1, 2, 4, 2});
  p.O.W = zeros({1, 1, 4, 5});
  return p;
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> names;
  for (const Step& step : plan.steps) names.emplace_back(name_of(step.id).id);
  return names;
}

}  // namespace

TEST_CASE("the rows of the table stand at the places of their enumerators", "[plan]") {
  for (std::size_t i = 0; i < step_count; ++i) CHECK(static_cast<std::size_t>(step_names[i].step) == i);
}

TEST_CASE("the plainest problem has nine steps", "[plan]") {
  const Problem p = per_head();
  const Plan plan = make_plan(p);
  CHECK(ids(plan) ==
        std::vector<std::string>{"Q", "K", "V", "scores", "scaled", "weights", "head_output", "concat", "output"});
  CHECK(plan.value(*plan.find(StepId::scores)).shape == Shape{1, 2, 3, 3});
  CHECK(plan.value(*plan.find(StepId::concat)).shape == Shape{1, 1, 3, 4});
  CHECK(plan.value(*plan.find(StepId::output)).shape == Shape{1, 1, 3, 5});
  CHECK(plan.find(StepId::X).has_value());
  CHECK_FALSE(plan.find(StepId::masked).has_value());
}

TEST_CASE("scale none, softcap, masks and rope add and remove their steps", "[plan]") {
  Problem p = per_head();
  p.scale.kind = Scale::Kind::none;
  p.softcap = 3;
  p.rope = Rope{};
  p.rope->dims = 2;
  Mask causal;
  causal.kind = Mask::Kind::causal;
  p.masks = {Mask{}, causal, causal};
  const Plan plan = make_plan(p);
  CHECK(ids(plan) == std::vector<std::string>{"Q", "K", "V", "Q_rot", "K_rot", "scores", "capped", "masked", "weights",
                                              "head_output", "concat", "output"});
  for (const Step& step : plan.steps)
    if (step.id == StepId::masked) CHECK(step.in.size() == 3);
  p.masks = {Mask{}};
  const Plan unmasked = make_plan(p);
  CHECK_FALSE(unmasked.find(StepId::masked).has_value());
}

TEST_CASE("packed weights: three large products, then the split", "[plan]") {
  Problem p = per_head();
  p.packed = true;
  p.kv_heads = 1;
  p.Q.W = zeros({1, 1, 4, 4});
  p.K.W = zeros({1, 1, 4, 2});
  p.V.W = zeros({1, 1, 4, 3});
  p.O.W = zeros({1, 1, 6, 4});
  const Plan plan = make_plan(p);
  CHECK(ids(plan).front() == "packed.Q");
  CHECK(plan.value(*plan.find(StepId::Q)).shape == Shape{1, 2, 3, 2});
  CHECK(plan.value(*plan.find(StepId::V)).shape == Shape{1, 1, 3, 3});
  CHECK(plan.value(*plan.find(StepId::concat)).shape == Shape{1, 1, 3, 6});
}

}  // namespace mha::test
