// Tells explanations as a page.
#pragma once

#include "study/explain.hpp"

namespace mha {

// What was asked for, and the explanation of each entry of it.
struct ExplainedRange {
  EntryRange range;
  std::vector<Explanation> entries;
};

Document describe(const Scene& scene, const std::vector<ExplainedRange>& ranges);

}  // namespace mha
