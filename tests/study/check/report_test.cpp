// Reports told: JSON, CSV, Gradescope and the page; and that a hint gives no true number away.
#include <fmt/format.h>

#include "catch.hpp"
#include "show/writers.hpp"
#include "study/check/check_helpers.hpp"
#include "study/check/report_files.hpp"

namespace mha::test {
namespace {

constexpr std::optional<Hint> no_hint;

// The unscaled scores of head 2 handed in as the scaled ones, rounded to 3 decimals.
struct Wrong {
  Problem problem = worked_size_problem(3);
  PlainTrace right = plain_right(problem, 3);
  Report report;

  Wrong() {
    PlainTrace trace = only(right, {StepId::scores, StepId::scaled});
    trace.steps[StepId::scaled][1] = trace.steps[StepId::scores][1];
    report = check_trace(Checker(problem), trace);
    report.name = "Lee, \"Bo\"";
    grade(report, Grading());
  }
};

Report unusable() {
  Report report;
  report.name = "c";
  report.unusable = Saying{"c.json: there is no such file; check the path", "c.json：没有这个文件；请检查路径"};
  return report;
}

std::string page(const std::vector<Report>& reports, const Problem& problem, std::optional<Hint> hint,
                 Language language = Language::en) {
  PageOptions options;
  options.language = language;
  return write_text(describe(reports, problem.title, options, hint), {});
}

template <typename Write>
std::string text_of(Write write) {
  StringSink sink;
  write(sink);
  return sink.text();
}

std::string json(const std::vector<Report>& reports, std::optional<Hint> hint) {
  return text_of([&](Sink& sink) { write_report_json(sink, reports, {Language::en, 1, hint}); });
}
std::string csv(const std::vector<Report>& reports, std::optional<Hint> hint) {
  return text_of([&](Sink& sink) { write_report_csv(sink, reports, {Language::en, 1, hint}); });
}
std::string gradescope(const Report& report, std::optional<Hint> hint) {
  return text_of([&](Sink& sink) { write_report_gradescope(sink, report, Grading(), {Language::en, 1, hint}); });
}

}  // namespace

TEST_CASE("a report as JSON", "[report]") {
  const Wrong wrong;
  const std::string text = json({wrong.report, unusable()}, no_hint);
  CHECK(has(text, R"("name": "Lee, \"Bo\"")"));
  CHECK(has(text, R"("verdict": "wrong")"));
  CHECK(has(text, R"("first_wrong": {"step": "scaled", "head": 2})"));
  CHECK(has(text, R"("mistakes": ["no_scale")"));
  CHECK(has(text, R"({"step": "Q", "head": 1, "verdict": "not_given", "max_difference": null, "entries_wrong": null})"));
  CHECK(has(text, R"({"step": "scores", "head": 2, "verdict": "right", "max_difference": 0, "entries_wrong": 0})"));
  CHECK(has(text, R"({"step": "scaled", "head": 2, "verdict": "wrong", "max_difference": )"));
  CHECK(has(text, R"({"step": "output", "head": null, "verdict": "not_given")"));
  CHECK(has(text, R"("verdict": "unusable")"));
  CHECK(has(text, R"("first_wrong": null)"));
}

TEST_CASE("a report as a line of a table", "[report]") {
  const Wrong wrong;
  const std::string text = csv({wrong.report, unusable()}, no_hint);
  CHECK(text.rfind("name,verdict,score,given,of,first_wrong,mistakes,message\r\n"
                   "\"Lee, \"\"Bo\"\"\",wrong,0.16666666666666666,4,16,scaled,no_scale scale_after_softmax,",
                   0) == 0);
  CHECK(has(text, "\r\nc,unusable,0,0,0,,,\"c.json: there is no such file; check the path\"\r\n"));
}

TEST_CASE("a report for Gradescope: a point for each step that is right in itself, shared out among its heads",
          "[report]") {
  const Wrong wrong;
  const std::string text = gradescope(wrong.report, no_hint);
  CHECK(has(text, "\"score\": 1.5,\n"));
  CHECK(has(text, R"("visibility": "visible")"));
  CHECK(has(text, R"({"name": "Scores", "score": 1, "max_score": 1, "status": "passed")"));
  CHECK(has(text, R"({"name": "Scaled scores", "score": 0.5, "max_score": 1, "status": "failed")"));
  CHECK(has(text, R"({"name": "Queries", "score": 0, "max_score": 1, "status": "failed")"));
  CHECK(has(text, "the scores were not scaled"));
  CHECK(has(gradescope(unusable(), no_hint), "\"score\": 0,\n"));
}

TEST_CASE("the page marks wrong entries and puts what is expected beside", "[report]") {
  const Wrong wrong;
  const std::string text = page({wrong.report}, wrong.problem, no_hint);
  CHECK(has(text, "Wrong: the first wrong step is Scaled scores Z⁽²⁾."));
  CHECK(has(text, "*"));
  CHECK(has(text, "≠"));
  CHECK(has(text, "! the scores were not scaled: divide them by √d_k"));
  CHECK(has(text, "(no_scale"));
  CHECK(has(text, "head 1: right; head 2: wrong here"));
  CHECK(has(text, "made in head 2 only"));
  const std::string chinese = page({wrong.report}, wrong.problem, no_hint, Language::zh);
  CHECK(has(chinese, "错误：最先出错的一步是“缩放后的分数”Z⁽²⁾。"));
  CHECK(has(chinese, "此处错误"));
}

TEST_CASE("several reports are told one below the other, and counted", "[report]") {
  const Wrong wrong;
  Report right;
  right.name = "a.json";
  const std::string text = page({wrong.report, unusable(), right, wrong.report}, wrong.problem, no_hint);
  CHECK(has(text, "1 right · 0 incomplete · 2 wrong · 0 missing · 1 unusable"));
  CHECK(has(text, "2  no_scale"));
}

TEST_CASE("hints say more and more, and never a true number", "[report]") {
  const Wrong wrong;
  std::vector<std::string> numbers;  // that are not in the answer
  for (const double number : wrong.right.steps.at(StepId::scaled)[1].numbers)
    if (number != std::round(number)) numbers.push_back(fmt::format("{:.3f}", std::abs(number)).substr(0, 4));
  REQUIRE(!numbers.empty());
  for (const Hint hint : {Hint::step, Hint::place, Hint::mistake})
    for (const std::string& text : {page({wrong.report}, wrong.problem, hint), json({wrong.report}, hint),
                                    csv({wrong.report}, hint), gradescope(wrong.report, hint)}) {
      CAPTURE(text);
      for (const std::string& number : numbers) CHECK_FALSE(has(text, number));
      CHECK((has(text, "Scaled scores") || has(text, "scaled")));
      CHECK(has(text, "no_scale") == (hint == Hint::mistake));
    }
  CHECK_FALSE(has(page({wrong.report}, wrong.problem, Hint::step), "head 2"));
  CHECK(has(page({wrong.report}, wrong.problem, Hint::place), "in head 2"));
  CHECK_FALSE(has(page({wrong.report}, wrong.problem, Hint::place), "not scaled"));
  CHECK(has(json({wrong.report}, Hint::step), R"("first_wrong": {"step": "scaled", "head": null})"));
}

TEST_CASE("a hint tells a ratio or a difference of no sign either", "[report]") {
  const Problem problem = study_problem(1);
  PlainTrace trace = plain_right(problem);
  for (PlainMatrix& head : trace.steps[StepId::scaled]) head = each_entry(head, [](double z) { return z * 1.375; });
  const Report report = check_trace(Checker(problem), only(trace, {StepId::scores, StepId::scaled}));
  REQUIRE(report.findings.front().sign.has_value());
  CHECK(report.findings.front().sign->number == "1.375");
  CHECK(has(page({report}, problem, no_hint), "(1.375)"));
  CHECK_FALSE(has(page({report}, problem, Hint::mistake), "1.375"));
  CHECK_FALSE(has(gradescope(report, no_hint), "1.375"));
}

}  // namespace mha::test
