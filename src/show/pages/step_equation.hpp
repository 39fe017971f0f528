// The matrices of a step: what it reads, and what comes out.
#pragma once

#include <optional>

#include "show/document.hpp"
#include "show/pages/scene.hpp"
#include "show/pages/spelling.hpp"

namespace mha::show {

// The person's labels for the rows and columns that this step's matrices of one item show.
void add_labels(Matrix& matrix, const Problem& problem, StepId step, Index item);

// A value as a matrix with its symbol and labels; nothing where the trace did not keep it.
std::optional<Matrix> labelled_matrix(const Scene& scene, ValueId id, Place place, bool transposed = false);

// Operands that the trace does not hold are left out; without a result there is no equation. `worked` is marked.
std::optional<Equation> equation_of(const Scene& scene, const Step& step, Place place, std::optional<EntryAt> worked);

}  // namespace mha::show
