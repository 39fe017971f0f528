// Answers graded: which steps must be there, what each is worth, and how a whole class came out.
#pragma once

#include <utility>
#include <vector>

#include "study/check/report.hpp"

namespace mha::study {

struct Grading {
  Grading() { points.fill(1); }

  std::array<double, step_count> points{};  // by step
  std::array<bool, step_count> required{};  // of those that the problem has
};

// One step of all heads together; X is given, not computed, and no step.
struct GradedStep : LayerStep {
  double points = 0;
  bool given = true;                  // for all heads, in part at least
  double heads = 0, right_heads = 0;  // the latter with nothing left blank
  double right() const { return right_heads / heads; }
};
std::vector<GradedStep> graded_steps(const Report& report, const Grading& grading);

// Fills in what a report tells of the whole answer: how much is given, what is lacking, the score.
void grade(Report& report, const Grading& grading);

// Every answer is counted once in each list that it belongs to, so that the numbers add up: a wrong one at its first wrong
// step, and under the likeliest mistake there.
struct Summary {
  explicit Summary(const std::vector<Report>& reports);

  std::array<Index, answer_verdicts.size()> answers{};     // by verdict
  std::vector<std::pair<LayerStep, Index>> steps;          // in their order, without those where nobody failed
  std::vector<std::pair<const Mistake*, Index>> mistakes;  // the most frequent first; null: no known mistake
  Layout layout = Layout::x_at_w;                          // of the problem's weights
};

}  // namespace mha::study
