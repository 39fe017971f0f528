// Every mistake, handed in as an answer, is recognised.
#include "catch.hpp"
#include "fewer_draws.hpp"
#include "study/check/check_helpers.hpp"
#include "study/mistakes/forms.hpp"

namespace mha::test {
namespace {

// One mistake made on one problem, so that its numbers show it.
struct Made {
  std::string_view id;
  const Plan& right_plan;  // the right form that it keeps to longest: empty rows as 0 or as NaN
  const Plan& plan;
  PlainTrace right, trace;
  PlainPlace place;  // where it first shows
};

// Nothing where it agrees with a right form.
std::optional<Made> made(const Mistake& mistake, const Plan& plan, const Variants& right) {
  std::optional<Made> result;
  const PlainTrace trace = worked_out(plan);
  for (const Variant& form : right) {
    PlainTrace numbers = worked_out(form.plan);
    const std::optional<PlainPlace> place = first_plain_difference(numbers, trace);
    if (!place) return {};
    if (!result || place->step > result->place.step)
      result.emplace(Made{mistake.id, form.plan, plan, std::move(numbers), trace, *place});
  }
  return result;
}

// A fill beside which small scores leave no weight.
bool is_strong_fill(const Mistake& mistake, const Variant& form) {
  const std::string fill = form.detail.substr(0, form.detail.find(';'));
  return mistake.id == "mask_fill_weak" && (fill == "−100" || fill == "−1e4" || fill == "−1e5");
}

bool has_small_scores(const Problem& problem) {
  const PlainTrace trace = worked_out(answer_plan(problem));
  for (const PlainMatrix& scores : trace.steps.at(StepId::scores))
    for (const double score : scores.numbers)
      if (std::abs(score) > 50) return false;
  return true;
}

template <typename Use>
void each_shown(const Problem& problem, Use use) {
  static std::uint32_t turn = 0;
  const Variants right = answer_forms(problem);
  for (const Mistake& mistake : mistakes())
    for (const Variant& form : mistake.variants(problem)) {
      if (is_passed_over(turn) || is_strong_fill(mistake, form)) continue;
      CAPTURE(mistake.id, form.detail);
      if (const std::optional<Made> shown = made(mistake, form.plan, right)) use(*shown);
    }
}

// Packed products of all heads stand before the first head.
bool is_at(const Finding& finding, const PlainPlace& place) {
  return finding.step == place.step && (!finding.of_one_head() || finding.heads.front() == place.head);
}

// How often the mistake was found among those that can be.
struct Rate {
  int found = 0, all = 0;

  void count(const Report& report, const Made& made) {
    ++all;
    if (!report.findings.empty() && is_suspected(report.findings.front(), made.id)) ++found;
  }
  double share() const { return static_cast<double>(found) / all; }
};

struct Rates {
  Rate in_part, written, by_steps;
};

// `seed` decides whether numbers are rounded when they are written or at every step.
void check_problem(const Problem& problem, std::uint32_t seed, Rates& rates) {
  const Checker checker(problem);
  each_shown(problem, [&](const Made& made) {
    // As a full trace: always, and nothing else is found.
    const Report report = check_trace(checker, made.trace);
    CAPTURE(told(report));
    REQUIRE(report.findings.size() == 1);
    CHECK(is_suspected(report.findings.front(), made.id));
    if (!problem.is_post_norm())  // there a plain trace does not know which step comes first
      CHECK(is_at(report.findings.front(), made.place));
    // In part, or with few decimals: where the numbers show it at all.
    const auto part = [](const PlainTrace& trace) { return only(trace, weights_and_output); };
    const auto try_on = [&](const PlainTrace& right, const PlainTrace& answer, Rate& rate) {
      if (first_plain_difference(right, answer)) rate.count(check_trace(checker, answer), made);
    };
    try_on(part(made.right), part(made.trace), rates.in_part);
    if (seed % 2 == 0)
      try_on(written_with(made.right, 3), written_with(made.trace, 3), rates.written);
    else
      try_on(worked_out(made.right_plan, 3), worked_out(made.plan, 3), rates.by_steps);
  });
}

Plan with_mistake(const Problem& problem, Plan plan, std::string_view id) {
  Forms forms(problem, std::move(plan));
  find_mistake(id)->make(forms);
  return std::move(forms).finish(id).front().plan;
}

Plan both(const Problem& problem, std::string_view first, std::string_view second) {
  return with_mistake(problem, with_mistake(problem, make_plan(problem), first), second);
}

void check_rates(const Rates& rates) {
  CAPTURE(rates.in_part.all, rates.written.all, rates.by_steps.all);
  CHECK(rates.in_part.share() >= 0.98);
  CHECK(rates.written.share() >= 0.98);
  CHECK(rates.by_steps.share() >= 0.98);
}

}  // namespace

TEST_CASE("mistakes in five problems that separate them", "[check]") {
  Rates rates;
  for (std::uint32_t seed = 0; seed < draws(5); ++seed) {
    CAPTURE(seed);
    check_problem(study_problem(seed), seed, rates);
  }
  check_rates(rates);
}

TEST_CASE("mistakes in problems of the worked example's size", "[check]") {
  Rates rates;
  for (std::uint32_t seed = 0; seed < draws(5); ++seed) {
    CAPTURE(seed);
    check_problem(worked_size_problem(seed), seed, rates);
    check_problem(worked_size_causal_problem(seed), seed, rates);
  }
  check_rates(rates);
}

TEST_CASE("mistakes in problems of every kind", "[check]") {
  Rates rates;
  for (std::uint32_t seed = 0; seed < study_variants.size(); ++seed) {
    CAPTURE(study_variants[seed].name);
    check_problem(study_variants[seed].draw(seed), seed, rates);
  }
  check_rates(rates);
}

TEST_CASE("a fill that leaks no weight is no mistake", "[check]") {
  for (std::uint32_t seed = 0; seed < study_variants.size(); ++seed) {
    const Problem problem = study_variants[seed].draw(seed);
    if (!has_small_scores(problem)) continue;
    const Checker checker(problem);
    const Mistake& weak = *find_mistake("mask_fill_weak");
    for (const Variant& form : weak.variants(problem)) {
      CAPTURE(study_variants[seed].name, form.detail);
      if (is_strong_fill(weak, form)) CHECK(told(check_trace(checker, worked_out(form.plan))) == "right");
    }
  }
}

TEST_CASE("a flat answer is read as a trace is", "[check]") {
  const Problem problem = study_problem(3);
  const Checker checker(problem);
  each_shown(problem, [&](const Made& made) {
    CHECK(told(check_trace(checker, made.trace, AnswerForm::flat)) == told(check_trace(checker, made.trace)));
  });
}

TEST_CASE("where the data separate everything, a full trace leaves one suspect", "[check]") {
  const Problem problem = study_problem(4);
  const Checker checker(problem);
  each_shown(problem, [&](const Made& made) {
    const Report report = check_trace(checker, made.trace);
    CAPTURE(told(report));
    CHECK(report.findings.front().suspects.size() == 1);
    CHECK(report.findings.front().to_the_end);
  });
}

TEST_CASE("two mistakes at once are both found, each at its step", "[check]") {
  const Problem problem = study_problem(5);
  const Checker checker(problem);
  struct Pair {
    std::string_view first, second;
    StepId first_step, second_step;
  };
  for (const Pair& pair : {Pair{"no_scale", "wo_missing", StepId::scaled, StepId::output},
                           Pair{"weights_transposed", "scale_sqrt_dmodel", StepId::Q, StepId::scaled},
                           Pair{"same_weights", "concat_reversed", StepId::Q, StepId::concat},
                           Pair{"scale_after_softmax", "wo_transposed", StepId::scaled, StepId::output},
                           Pair{"mask_ignored", "k_for_v", StepId::masked, StepId::head_output},
                           Pair{"not_split", "softmax_columns", StepId::Q, StepId::weights}}) {
    const PlainTrace trace = worked_out(both(problem, pair.first, pair.second));
    for (const PlainTrace& answer : {trace, written_with(trace, 3), written_with(trace, 2)}) {
      const Report report = check_trace(checker, answer);
      CAPTURE(pair.first, pair.second, told(report));
      REQUIRE(report.findings.size() == 2);
      CHECK(is_suspected(report.findings[0], pair.first));
      CHECK(name_of(report.findings[0].step).id == name_of(pair.first_step).id);
      CHECK(is_suspected(report.findings[1], pair.second));
      CHECK(name_of(report.findings[1].step).id == name_of(pair.second_step).id);
    }
  }
}

TEST_CASE("a second mistake is found where the numbers between were not handed in", "[check]") {
  const Problem problem = study_problem(6);
  const PlainTrace trace = worked_out(both(problem, "v_from_wk", "wo_transposed"));
  const Report report = check_trace(Checker(problem), only(trace, {StepId::V, StepId::weights, StepId::output}));
  CAPTURE(told(report));
  REQUIRE(report.findings.size() == 2);
  CHECK(is_suspected(report.findings[0], "v_from_wk"));
  CHECK(is_suspected(report.findings[1], "wo_transposed"));
}

}  // namespace mha::test
