// What the numbers of a problem bring to light: which mistakes they show, and which of them they tell apart.
#pragma once

#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "study/mistakes/simulate.hpp"

namespace mha::study {

using Ids = std::vector<std::string_view>;  // of mistakes

struct VisibleMistakes {
  using Pairs = std::set<std::pair<std::string_view, std::string_view>>;
  struct View {
    std::vector<bool> shown;  // by form
    Pairs alike;              // not told apart: with the same numbers, or one of the two not shown in any form
  };

  Ids forms;                    // of all mistakes that can be made, in the order of the computation
  View all_steps, output_only;  // to a person who sees every step, and to one who sees the output alone
};

// Numbers count as different where they are further apart than the tolerance.
VisibleMistakes visible_mistakes(const Problem& problem, double tolerance);

// What at least one of two problems of the same sizes brings to light.
VisibleMistakes both(const VisibleMistakes& a, const VisibleMistakes& b);

// Whether `numbers`, of the same sizes, bring to light everything that `sizes` do.
bool show_as_much(const VisibleMistakes& numbers, const VisibleMistakes& sizes);

// Those that can be made and show in no form, in the order of the computation.
Ids hidden_mistakes(const Ids& forms, const std::vector<bool>& shown);

}  // namespace mha::study
