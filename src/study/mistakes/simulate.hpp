// Runs plans, right or mistaken, and tells which mistakes a problem can show.
#pragma once

#include <array>
#include <functional>

#include "core/trace.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::study {

// What is written down as each step, by StepId; null for a step that the plan does not have.
using Written = std::array<std::shared_ptr<const Tensor>, row_count>;
Written written(const Plan& plan, const Trace& trace);

// Computes the plan, keeping all values, or `only` what is written down as one step; where it is a part of a whole, with
// the bits of that.
Trace simulate(const Plan& plan, const Plan* whole = nullptr, std::optional<StepId> only = {});

// The step whose result a layer gives.
StepId result_of(const Plan& layer);

// A problem layer by layer: each as a problem of its own, whose X is what the layer before gave, and its numbers. The final
// norm is the last one's, and so is the loss; an earlier layer's is the gradient that comes back to it. It ends early where
// a mistake has given what the next layer cannot read.
struct Layered {
  std::vector<Problem> problems;
  std::vector<Written> numbers;
};
// `plan_of`: how a layer, counted from 0, is computed. Not `with_numbers`, no more is computed than the layers read.
using PlanOf = std::function<Plan(const Problem& layer, int number)>;
Layered layered(
    const Problem& problem, const PlanOf& plan_of = [](const Problem& layer, int) { return answer_plan(layer); },
    bool with_numbers = true);

// The largest |a − b| / max(1, |b|): infinite where the shapes differ or one of the two is NaN or infinite alone.
double distance(const Tensor& a, const Tensor& b);

inline constexpr double same_number = 1e-9;

// The first step, in the order of the computation, whose numbers differ by more than the tolerance. Masked scores that make
// the same weights are as good.
std::optional<StepId> first_step_apart(const Written& numbers, const Written& right, double tolerance = same_number);

// What is right: one form, or two where a row has no key, whose weights are 0 or NaN.
std::vector<Written> right_forms(const Problem& problem);

// The first step that is right in none of these forms; nothing where all are.
std::optional<StepId> first_step_wrong(const Written& numbers, const std::vector<Written>& right,
                                       double tolerance = same_number);

// What comes out when a mistake is made on a problem.
struct Outcome {
  const Mistake* mistake;
  std::string detail;
  Written numbers;
  std::optional<StepId> shown_by;  // the first step that is not right; nothing: this problem hides the mistake
};

// All forms of all mistakes that can be made on the problem.
std::vector<Outcome> outcomes(const Problem& problem, double tolerance = same_number);

// The ids of mistakes with the same numbers in all steps from `from` on, in groups of two and more. Mistakes that these
// steps do not show are in no group.
using IdGroups = std::vector<std::vector<std::string_view>>;
IdGroups indistinguishable(const std::vector<Outcome>& outcomes, const std::vector<Written>& right, StepId from,
                           double tolerance);

}  // namespace mha::study
