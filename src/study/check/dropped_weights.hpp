// Weights that dropout changed, recognised from the numbers given: which ones it dropped is chance.
#pragma once

#include "study/check/diagnose.hpp"

namespace mha::study {

// The mistake `dropout` as this person must have made it: some of the wrong heads' weights are 0, and all others 1/(1 − p)
// of what they should be. Nothing where it is not so. `plan` is what the answer was read against.
std::optional<Candidate> dropped_weights(const RowPlan& plan, const Puzzle& puzzle);

}  // namespace mha::study
