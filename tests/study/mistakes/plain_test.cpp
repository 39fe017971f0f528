// The plain loops: the program's plans give their numbers; and the answers that are made of them.
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "catch.hpp"
#include "study/check/random_study_problem.hpp"
#include "study/check/worked_out.hpp"
#include "study/mistakes/plain_answers.hpp"
#include "study/mistakes/plain_mistakes.hpp"

namespace mha::test {
namespace {

PlainTrace plain_run(const Problem& problem, const std::function<void(PlainSetting&)>& make, double empty) {
  PlainSetting setting(plain_layer(problem));
  setting.empty = empty;
  make(setting);
  return attend(setting);
}

std::vector<PlainMistake> plain_forms(std::string_view id) {
  std::vector<PlainMistake> forms;
  for (PlainMistake& mistake : plain_mistakes())
    if (mistake.id == id) forms.push_back(std::move(mistake));
  return forms;
}

// Whether the two agree in every step that both have.
bool agree(const PlainTrace& a, const PlainTrace& b) {
  return !first_plain_difference(a, b);
}

}  // namespace

TEST_CASE("the right plan and those of mistakes that take more than a line give the numbers of plain loops", "[mistakes]") {
  const auto right = [](PlainSetting&) {};
  std::set<std::string_view> made;
  for (const StudyVariant& variant : study_variants) {
    const Problem problem = variant.draw(1);
    if (problem.residual)
      continue;  // plain_layer knows the attention alone; compute/block_test has the rest in plain loops
    const auto is_plain = [&](const Plan& plan, const auto& make) {
      const PlainTrace trace = worked_out(plan);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      return agree(plain_run(problem, make, 0), trace) || agree(plain_run(problem, make, nan), trace);
    };
    INFO(variant.name);
    for (const Variant& form : answer_forms(problem)) CHECK(is_plain(form.plan, right));
    for (const Mistake& mistake : mistakes())
      for (const Variant& form : mistake.variants(problem)) {
        const std::vector<PlainMistake> twins = plain_forms(mistake.id);
        if (twins.empty()) continue;
        INFO(mistake.id << " " << form.detail);
        CHECK(std::any_of(twins.begin(), twins.end(),
                          [&](const PlainMistake& twin) { return is_plain(form.plan, twin.make); }));
        made.insert(mistake.id);
      }
  }
  for (const PlainMistake& twin : plain_mistakes()) {
    INFO(twin.id);
    CHECK(made.count(twin.id) == 1);
  }
}

TEST_CASE("the fair forms have the right weights and output wherever a row has a key") {
  for (const FairForm& form : fair_forms())
    for (const StudyVariant& variant : study_variants) {
      const Problem problem = variant.draw(2);
      if (problem.residual) continue;
      // Where every weight left by the mask underflows, a renormalised row is 0/0.
      if (variant.name == "row without key" || variant.name == "large scores" || !form.applies(problem)) continue;
      CAPTURE(form.name, variant.name);
      const PlainTrace right = only(plain_right(problem), weights_and_output);
      CHECK_FALSE(first_plain_difference(right, only(form.run(problem, {}), weights_and_output)));
    }
}

TEST_CASE("answers are written as the contract says") {
  PlainTrace trace;
  const double infinity = std::numeric_limits<double>::infinity();
  trace.steps[StepId::masked] = {PlainMatrix{1, 2, {0.5, -infinity}}, PlainMatrix{1, 2, {std::nan(""), infinity}}};
  trace.steps[StepId::output] = {PlainMatrix{2, 1, {0.25, -3}}};
  CHECK(answer_text(trace, AnswerForm::flat) == R"({"M1":[[0.5,"-inf"]],"M2":[["nan","inf"]],"Y":[[0.25],[-3.0]]})");
  CHECK(answer_text(trace) ==
        R"({"heads":[{"head":1,"masked":[[0.5,"-inf"]]},{"head":2,"masked":[["nan","inf"]]}],"output":[[0.25],[-3.0]]})");
  CHECK(answer_text(written_with(trace, 1), AnswerForm::flat) ==
        R"({"M1":[[0.5,"-inf"]],"M2":[["nan","inf"]],"Y":[[0.3],[-3.0]]})");
}

}  // namespace mha::test
