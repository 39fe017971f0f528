// Answers graded.
#include "study/check/grading.hpp"

namespace mha::study {

double Grading::points_of(const LayerStep& step) const {
  const auto last = std::find_if(points.rbegin(), points.rend(), [&](const StepChoice& e) { return e.has(step); });
  return last == points.rend() ? 1 : last->points;
}

bool Grading::requires_it(const LayerStep& step) const {
  return std::any_of(required.begin(), required.end(), [&](const StepChoice& e) { return e.has(step); });
}

std::vector<GradedStep> graded_steps(const Report& report, const Grading& grading) {
  std::vector<GradedStep> steps;
  for (const StepVerdict& verdict : report.steps) {
    if (verdict.step == StepId::X) continue;
    const LayerStep& place = verdict;
    if (steps.empty() || steps.back() != place) steps.push_back({place, grading.points_of(place)});
    GradedStep& step = steps.back();
    step.given = step.given && verdict.verdict != Verdict::not_given;
    ++step.heads;
    const bool is_right = verdict.verdict == Verdict::right || verdict.verdict == Verdict::following;
    if (is_right && !verdict.has_blanks) ++step.right_heads;
  }
  return steps;
}

void grade(Report& report, const Grading& grading) {
  const auto is_given = [](const StepVerdict& step) {
    return step.step != StepId::X && step.verdict != Verdict::not_given;
  };
  if (!report.asks_for_gradients)
    report.of -= static_cast<Index>(std::erase_if(
        report.steps, [&](const StepVerdict& step) { return is_gradient(step.step) && !grading.requires_it(step); }));
  report.given =
      std::min(report.of, static_cast<Index>(std::count_if(report.steps.begin(), report.steps.end(), is_given))) -
      report.inferred;
  double earned = 0, all = 0;
  for (const GradedStep& step : graded_steps(report, grading)) {
    all += step.points;
    earned += step.right() * step.points;
    if (!step.given && grading.requires_it(step)) report.lacking.push_back(LayerStep(step));
  }
  report.score = all > 0 ? earned / all : 0;
}

Summary::Summary(const std::vector<Report>& reports) {
  const auto count = [](auto& list, const auto& what) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& row) { return row.first == what; });
    found == list.end() ? (void)list.emplace_back(what, 1) : (void)++found->second;
  };
  for (const Report& report : reports) {
    ++answers[static_cast<std::size_t>(report.verdict())];
    if (report.verdict() != AnswerVerdict::wrong) continue;
    const Finding& first = report.findings.front();
    layout = first.layout;
    count(steps, LayerStep(first));
    count(mistakes, first.suspects.empty() ? nullptr : first.suspects.front().mistake);
  }
  std::sort(steps.begin(), steps.end());
  const auto place = [](const Mistake* mistake) {
    return mistake == nullptr ? mha::study::mistakes().size()
                              : static_cast<std::size_t>(mistake - mha::study::mistakes().data());
  };
  std::sort(mistakes.begin(), mistakes.end(), [&](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : place(a.first) < place(b.first);
  });
}

}  // namespace mha::study
