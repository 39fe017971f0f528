// Entries as people name them: Y[2,1], A1[3,2], packed.Q[1,5], a row A1[2,*]; in a stack layer2.A1[3,2].
#pragma once

#include <optional>
#include <string_view>

#include "core/plan.hpp"

namespace mha::study {

// An entry of a step's result, or all of a row or column; everything from 0.
struct EntryRange {
  StepId step;
  int layer = 0;
  Index head = 0;                    // of the query heads; 0 for what belongs to all
  std::optional<Index> row, column;  // nothing: all
};

// Whether a word is meant as an entry rather than as the name of a file or an example.
bool looks_like_entry(std::string_view text);

// Numbers count from `base`. What the problem does not have is an Error that says what it has.
EntryRange parse_entry(std::string_view text, const Problem& problem, const Plan& plan, Index base);

}  // namespace mha::study
