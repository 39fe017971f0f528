// Right work that does not look like the formulas: the scale put on Q, the mask applied after the softmax, and so on.
#pragma once

#include <compare>
#include <set>
#include <vector>

#include "core/text.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::study {

struct FairForm {
  Plan plan;
  std::vector<Saying> remarks;
  StepId rejoins;  // from here on the numbers are those of the formulas again
};

// By what a head's scores were scaled: 1/√d_k exactly, or a number with few decimals by which they were multiplied or
// divided.
struct ScaleFactor {
  bool divides = false;
  double number = 0;  // 0: exactly

  double value() const { return divides ? 1 / number : number; }
  auto operator<=>(const ScaleFactor&) const = default;
};

using Factors = std::vector<ScaleFactor>;  // of each head, or to choose from

// 1/√d_k and √d_k rounded to so many decimals, as worksheets print them and people copy them; none where √d_k is a whole
// number.
Factors rounded_factors(Index d_k, const std::set<int>& decimals);

// All of them but the formulas as they stand; or those with these factors, one for each head. The first of these changes
// nothing else. The problem must outlive the plans.
std::vector<FairForm> fair_forms(const Problem& problem, const Factors& factors = {});

}  // namespace mha::study
