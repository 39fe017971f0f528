// Right work is never called wrong: exact, rounded as people round, or in a form that does not look like the formulas.
#include "catch.hpp"
#include "fewer_draws.hpp"
#include "study/check/check_helpers.hpp"
#include "study/check/comparison.hpp"

namespace mha::test {
namespace {

// Where every weight that the mask leaves underflows, a renormalised row is 0/0.
bool has_nan(const PlainTrace& trace) {
  for (const auto& [step, heads] : trace.steps)
    for (const PlainMatrix& head : heads)
      for (const double number : head.numbers)
        if (std::isnan(number)) return true;
  return false;
}

void check_right(const Checker& checker, const PlainTrace& answer) {
  for (const PlainTrace& part : {answer, only(answer, weights_and_output), only(answer, {StepId::output})}) {
    const Report report = check_trace(checker, part);
    CHECK(told(report) == "right");
  }
}

void check_fair_forms(const Problem& problem, bool nan_may_be) {
  const Checker checker(problem);
  for (const FairForm& form : fair_forms()) {
    if (!form.applies(problem)) continue;
    const PlainTrace exact = form.run(problem, {});
    if (has_nan(exact) && !nan_may_be) continue;
    CAPTURE(form.name);
    check_right(checker, exact);
    for (const int decimals : {2, 3, 4}) {
      CAPTURE(decimals);
      check_right(checker, form.run(problem, decimals));
      check_right(checker, written_with(exact, decimals));
    }
  }
}

}  // namespace

TEST_CASE("work in a fair form is never accused, however it is rounded", "[check]") {
  for (const StudyVariant& variant : study_variants)
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
      CAPTURE(variant.name, seed);
      if (variant.draw(seed).residual) continue;  // plain_layer knows the attention alone
      check_fair_forms(variant.draw(seed), variant.name != "large scores");
    }
}

TEST_CASE("correct work rounded at every step is right in 40 problems", "[check]") {
  for (std::uint32_t seed = 0; seed < draws(40); ++seed) {
    const Problem problem = seed % 2 == 0 ? study_problem(seed) : worked_size_problem(seed);
    const Checker checker(problem);
    for (const int decimals : {1, 2, 3, 4, 6}) {
      CAPTURE(seed, decimals);
      check_right(checker, plain_right(problem, decimals));
    }
  }
}

TEST_CASE("fair forms come with a remark, and a mistake behind them is found all the same", "[check]") {
  const Problem problem = study_problem(1);
  const Checker checker(problem);
  for (const FairForm& form : fair_forms()) {
    if (!form.applies(problem)) continue;
    const PlainTrace work = form.run(problem, {});
    const bool looks_usual = !first_plain_difference(plain_right(problem), work);
    CAPTURE(form.name);
    CHECK(check_trace(checker, work).remarks.empty() == looks_usual);
    PlainTrace without_W_O = work;
    const auto concat = plain_right(problem).steps.at(StepId::concat);
    without_W_O.steps[StepId::output] = concat;
    const Report report = check_trace(checker, without_W_O);
    CAPTURE(told(report));
    REQUIRE(report.findings.size() == 1);
    CHECK(is_suspected(report.findings.front(), "wo_missing"));
  }
}

TEST_CASE("a scaled Q that is scaled again is not fair", "[check]") {
  const Problem problem = study_problem(2);
  PlainSetting setting(plain_layer(problem));
  for (PlainLinear& linear : setting.layer.Q) {
    const auto scaled = [&](double x) { return x * *setting.layer.scale; };
    linear.W = each_entry(linear.W, scaled);
    linear.b = each_entry(linear.b, scaled);
  }
  const Report report = check_trace(Checker(problem), attend(setting));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().step == StepId::Q);
  REQUIRE(report.findings.front().sign.has_value());
  CHECK(report.findings.front().sign->number == "0.7071");
}

TEST_CASE("a fair form is believed only where later numbers come back to those of the formulas", "[check]") {
  const Problem problem = study_problem(1);
  const std::vector<FairForm> forms = fair_forms();
  const auto form =
      std::find_if(forms.begin(), forms.end(), [](const FairForm& f) { return f.name == "scale on Q, handed in"; });
  const PlainTrace work = form->run(problem, {});
  CHECK(check_trace(Checker(problem), only(work, {StepId::Q, StepId::scaled})).findings.empty());
  CHECK(check_trace(Checker(problem), only(work, {StepId::Q})).findings.size() == 1);
}

TEST_CASE("the row's maximum taken off is no mistake beside a score of exactly 0", "[check]") {
  const std::vector<double> expected = {-1.9998181, 1.9998182, -1.2702979, 0.0};
  const std::vector<double> tolerance = {4.4e-16, 4.4e-16, 4.4e-16, 0.0};  // float64, as large as each score
  std::vector<double> given = expected;
  for (double& score : given) score -= 1.9998182;
  RowShifts shifts;
  shifts.add(given.data(), expected.data(), tolerance.data(), 4);
  CHECK(shifts.found());
  given[3] += 1e-9;
  RowShifts others;
  others.add(given.data(), expected.data(), tolerance.data(), 4);
  CHECK_FALSE(others.found());
}

}  // namespace mha::test
