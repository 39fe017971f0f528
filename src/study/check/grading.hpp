// Answers graded: which steps must be there, what each is worth, and how a whole class came out.
#pragma once

#include "study/check/report.hpp"

namespace mha::study {

// Steps of all layers, or of one.
struct StepChoice {
  std::vector<bool> steps;  // by StepId
  std::optional<int> layer = {};
  double points = 1;

  bool has(const LayerStep& step) const {
    return steps[static_cast<std::size_t>(step.step)] && (!layer || step.own_layer() == layer);
  }
};

struct Grading {
  std::vector<StepChoice> points;    // the last that has a step says what it is worth, by default 1
  std::vector<StepChoice> required;  // of those that the problem has

  double points_of(const LayerStep& step) const;
  bool requires_it(const LayerStep& step) const;
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
