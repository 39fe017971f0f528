// Entries as formulas of a spreadsheet.
#pragma once

#include "show/pages/scene.hpp"
#include "show/pages/spelling.hpp"

namespace mha::show {

// Whether the cells of a sheet can compute what the page shows: one item, in f64, of operations that a cell has a formula
// for, in some thousand cells.
bool cells_can_compute(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// One formula of the operands' cells, for a step of which that is true.
CellFormula cell_formula(const Scene& scene, const Step& step, const Spelling& spelling, EntryAt at);

}  // namespace mha::show
