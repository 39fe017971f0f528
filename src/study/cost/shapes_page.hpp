// The steps of a problem with their shapes alone, as the page of a run has them and as PyTorch code sees them.
#pragma once

#include "core/problem.hpp"
#include "show/document.hpp"

namespace mha::study {

// With labels, the entries of Q have names instead (a1, a2, … in head 1, b1, … in head 2) and stand where the split puts
// them: an Error where there are too many to be looked at.
show::Document shapes_page(const Problem& problem, bool labels, Language language);

}  // namespace mha::study
