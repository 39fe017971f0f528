// Tells explanations as a page.
#pragma once

#include "study/explain/explain.hpp"

namespace mha::study {

// What was asked for, and the explanation of each entry of it.
struct ExplainedRange {
  EntryRange range;
  std::vector<Explanation> entries;
};

show::Document describe(const show::Scenes& layers, const std::vector<ExplainedRange>& ranges);

}  // namespace mha::study
