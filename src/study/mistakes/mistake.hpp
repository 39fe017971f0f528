// The mistakes that people make in multi-head attention, each as a changed plan.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"

namespace mha::study {

// One form of a mistake. `detail` tells the forms of one mistake apart, in symbols that every language reads.
struct Variant {
  Plan plan;
  std::string detail;
};
using Variants = std::vector<Variant>;

class Forms;

struct Mistake {
  std::string_view id;
  StepId first;                // the first step that shows it
  char frequency;              // 'A': most reported, 'B', 'C'
  void (*make)(Forms& forms);  // adds none where the mistake cannot be made on this problem
  Text what;                   // what was done, and the remedy, in one sentence

  constexpr Mistake(std::string_view name, StepId step, char often, void (*form)(Forms&), std::string_view en,
                    std::string_view zh)
      : id(name), first(step), frequency(often), make(form), what{en, zh} {}

  // The forms as answers give them: K and V stand once for each query head (see answer_plan), and a row, column or slice of
  // −∞ is tried as 0 and as NaN. The problem must outlive the plans.
  Variants variants(const Problem& problem) const;
};

// Two mistakes that go together in programs, or one alone.
struct MistakePair {
  const Mistake* first;
  const Mistake* second = nullptr;

  // `right`: the plan of the problem.
  Variants variants(const Problem& problem, const Plan& right) const;
};

// What a sentence says of products with weights, as this layout stores them: X·W_Q, or X·W_Qᵀ.
std::string in_layout(std::string_view sentence, Layout layout);

// All mistakes in the order of the computation.
std::span<const Mistake> mistakes();

// Null where no mistake has this id.
const Mistake* find_mistake(std::string_view id);

std::vector<MistakePair> mistake_pairs();

// A forward plan as answers give its rows: behind its steps, where the problem has a loss, those of the gradients as far as
// they can be told; with grouped heads K, K_rot and V and their gradients, too, have one matrix for each query head.
Plan as_answered(Plan plan, const Problem& problem);

// The right plan in that form, of a problem of one layer.
Plan answer_plan(const Problem& problem);

// That plan, and where a row has no key a second form that makes its weights NaN.
Variants answer_forms(const Problem& problem);

}  // namespace mha::study
