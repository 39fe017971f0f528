// What a mistake is made with: the problem, its right plan, and the forms as they come about; and the groups in which all
// mistakes are written down.
#pragma once

#include <list>

#include "study/mistakes/mistake.hpp"
#include "study/mistakes/plan_editor.hpp"

namespace mha::study {

// A decoder's mistakes begin behind a prompt: so many are tried.
inline constexpr Index most_prompt = 8;

class Forms {
 public:
  Forms(const Problem& of, Plan plan) : problem(of), right(std::move(plan)) {}

  // The right plan as one more form, to be edited.
  PlanEditor& add(std::string detail = {}) { return edits_.emplace_back(PlanEditor(right), std::move(detail)).first; }
  void take_back() { edits_.pop_back(); }
  // The mistake cannot be made on this problem.
  void none() { edits_.clear(); }
  bool has(StepId id) const { return right.find(id).has_value(); }

  // Those whose shapes fit. A form that is the right plan still is our own mistake in writing this one down: every number
  // would come out right.
  Variants finish(std::string_view mistake) &&;

  const Problem& problem;
  const Plan right;

 private:
  std::list<std::pair<PlanEditor, std::string>> edits_;
};

// The form with these arguments, as a row of a table names it.
template <auto form, auto... arguments>
void with(Forms& forms) {
  form(forms, arguments...);
}

extern const std::span<const Mistake> projection_mistakes;
extern const std::span<const Mistake> head_mistakes;
extern const std::span<const Mistake> rope_mistakes;
extern const std::span<const Mistake> score_mistakes;
extern const std::span<const Mistake> mask_mistakes;
extern const std::span<const Mistake> weight_mistakes;
extern const std::span<const Mistake> output_mistakes;
extern const std::span<const Mistake> block_mistakes;
extern const std::span<const Mistake> gradient_mistakes;

}  // namespace mha::study
