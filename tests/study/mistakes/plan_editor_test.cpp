// Editing a plan: what is written down keeps its name, shapes follow, and what does not fit is refused.
#include "study/mistakes/plan_editor.hpp"

#include "catch.hpp"
#include "study/mistakes/forms.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
namespace {

std::optional<Plan> with_scores(const Problem& problem, void (*change)(PlanEditor&)) {
  PlanEditor edit(make_plan(problem));
  change(edit);
  return std::move(edit).finish();
}

}  // namespace

TEST_CASE("an appended step writes down the result, the old one becomes auxiliary", "[plan editor]") {
  const Problem p = standard_problem();
  const Plan right = make_plan(p);
  PlanEditor edit(right);
  edit.append(relu(StepId::scores));
  const Plan plan = std::move(edit).finish().value();
  CHECK(plan.steps.size() == right.steps.size() + 1);
  CHECK(plan.find(StepId::scores) == right.find(StepId::scores));
  const auto relu =
      std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.op == Op::activation; });
  CHECK(relu->out == *plan.find(StepId::scores));
  CHECK_FALSE(plan.value(relu->in.front()).step.has_value());
  CHECK((relu - 1)->out == relu->in.front());
}

TEST_CASE("shapes follow the operands down to the output, or the plan is refused", "[plan editor]") {
  const Problem p = standard_problem();  // n = m = 5, h = 3, d_k = d_v = 2
  const std::optional<Plan> one_head = with_scores(p, [](PlanEditor& edit) {
    for (const StepId id : {StepId::Q, StepId::K, StepId::V}) edit.append({Op::merge, id, {}});
  });
  REQUIRE(one_head.has_value());
  CHECK(one_head->value(*one_head->find(StepId::scores)).shape == Shape{1, 1, 5, 5});
  CHECK(one_head->value(*one_head->find(StepId::head_output)).shape == Shape{1, 1, 5, 6});
  CHECK_FALSE(with_scores(p, [](PlanEditor& edit) { edit.append({Op::merge, StepId::Q, {}}); }).has_value());
  CHECK_FALSE(with_scores(p, [](PlanEditor& edit) { edit.step(StepId::scores).transposed = false; }).has_value());
  CHECK_FALSE(with_scores(p, [](PlanEditor& edit) {
                edit.append({Op::add, StepId::scores, {edit.value(StepId::V)}});
              }).has_value());
  CHECK_FALSE(with_scores(p, [](PlanEditor& edit) {
                edit.append({Op::reshape, StepId::concat, {}});
                edit.shape(StepId::concat) = {1, 1, 4, 6};
              }).has_value());
}

TEST_CASE("constants belong to the plan", "[plan editor]") {
  const Problem p = standard_problem();
  PlanEditor edit(make_plan(p));
  const ValueId two = edit.constant("2", matrix({{2}}));
  edit.append({Op::multiply, StepId::output, {two}});
  const Plan plan = std::move(edit).finish().value();
  const Written doubled = written(plan, simulate(plan)), right = right_result(p);
  for (Index i = 0; i < 30; ++i) CHECK(get(doubled, StepId::output).data()[i] == 2 * get(right, StepId::output).data()[i]);
}

TEST_CASE("an edit of which the op makes no use is refused, and one that changes nothing is known", "[plan editor]") {
  const Problem p = standard_problem();
  const Plan right = make_plan(p);
  const std::vector<std::pair<StepId, void (*)(Step&)>> useless = {
      {StepId::weights, [](Step& step) { step.transposed = true; }},
      {StepId::scores, [](Step& step) { step.cap = 2; }},
      {StepId::scores, [](Step& step) { step.pairing = Pairing::interleaved; }},
      {StepId::weights, [](Step& step) { step.arrangement = Arrangement::reversed; }},
      {StepId::concat, [](Step& step) { step.pooling = Pooling::sum; }},
      {StepId::scaled, [](Step& step) { step.softmax.over = Softmax::Over::column; }},
  };
  for (const auto& [id, change] : useless) {
    PlanEditor edit(right);
    CHECK(edit.changes_nothing(right));
    change(edit.step(id));
    CHECK_FALSE(edit.changes_nothing(right));
    CHECK_THROWS_AS(std::move(edit).finish(), std::logic_error);
  }
}

TEST_CASE("a mistake that is the right plan still is told as such", "[plan editor]") {
  const Problem p = standard_problem();
  const auto no_edit = [](Forms& forms) { forms.add().step(StepId::weights).softmax.over = Softmax::Over::row; };
  const Mistake nothing("nothing", StepId::weights, 'C', no_edit, "", "");
  CHECK_THROWS_AS(nothing.variants(p), std::logic_error);
}

}  // namespace mha::test
