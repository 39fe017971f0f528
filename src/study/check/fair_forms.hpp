// Right work that does not look like the formulas: the scale put on Q, the mask applied after the softmax, and so on.
#pragma once

#include <optional>
#include <vector>

#include "core/text.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::study {

struct FairForm {
  Plan plan;
  std::vector<Text> remarks;
  StepId rejoins;  // from here on the numbers are those of the formulas again
};

// All of them but the formulas as they stand; or those with a factor that was rounded to so many decimals, none where
// √d_k is a whole number. The problem must outlive the plans.
std::vector<FairForm> fair_forms(const Problem& problem, std::optional<int> factor_decimals = {});

}  // namespace mha::study
