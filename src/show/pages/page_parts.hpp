// What pages are made of: the facts above the first step, a step's heading, captions and matrices.
#pragma once

#include <functional>

#include "show/document.hpp"
#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"
#include "show/pages/spelling.hpp"

namespace mha::show {

// Sizes and rules.
Facts given_facts_of(const Scene& scene);

// Sizes, rules, and how the numbers were computed and are told; with a line where they have more digits than are shown.
// Of one scene for each layer that the page tells of.
void add_facts(const Scenes& layers, PageBuilder& page);
void add_header(const Scenes& layers, PageBuilder& page);
void add_description(const Caption& description, PageBuilder& page);

// Sizes and rules of a layer of a stack.
void add_layer_facts(const Scene& scene, PageBuilder& page);

// The person's labels for the rows and columns that this step's matrices of one item show.
void add_labels(Matrix& matrix, const Problem& problem, StepId step, Index item);

// A value as a matrix with its symbol and labels; nothing where the trace did not keep it.
std::optional<Matrix> labelled_matrix(const Scene& scene, ValueId id, Place place, bool transposed = false);

// Operands that the trace does not hold are left out; without a result there is no equation. `worked` is marked.
std::optional<Equation> equation_of(const Scene& scene, const Step& step, Place place, std::optional<EntryAt> worked);

// L, and its number where the result was computed.
void add_loss(const Scene& scene, PageBuilder& page);

// What a step computes: "Scores", "Gradient of the scores".
std::string title_of(const Scene& scene, const Step& step, Place place);
// What the numbers of a step of the backward pass say.
std::string backward_meaning(const Scene& scene, const Step& step, Place place);

// X, and X_kv in cross-attention.
void add_inputs(const Scene& scene, Place place, PageBuilder& page);

// `number` is the step's place in the plan, from 1.
void add_step(const Scene& scene, const Step& step, int number, Place place, PageBuilder& page);

// Its matrices alone, with what the format tells of their entries.
void add_matrices(const Scene& scene, const Step& step, Place place, std::optional<EntryAt> worked, PageBuilder& page);

// Keys and values as they lie in the cache, the new rows marked.
void add_cache(const Scene& scene, Place place, PageBuilder& page);

// X and all steps of one item.
void add_item(const Scenes& layers, Index item, PageBuilder& page);

// The sections of one item, layer by layer: what is before the heads, head by head, what is behind them. `add_step` tells
// each chosen step.
using AddStep = std::function<void(const Scene& scene, const Step& step, int number, Place place)>;
void add_sections(const Scenes& layers, Index item, PageBuilder& page, const AddStep& add_step);
// Behind all items, of the backward pass: the gradients of the parameters.
void add_parameters(const Scenes& layers, PageBuilder& page, const AddStep& add_step);

// The small print of a step: its meaning, and what its formula alone does not say.
std::vector<Words> captions_of(const Scene& scene, const Step& step, Place place);

// The trace may lack values: what it does not hold is not shown.
Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// What the person should know before trusting the numbers, for stderr: rows that may attend to no key, by name; heads that
// are alike; numbers too large for the arithmetic.
std::vector<std::string> warnings(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// Every mask that hides or changes this entry, in words; empty where none does.
Words mask_reason(const Scene& scene, const Step& step, Place place, Index query, Index key);

// The queries of one head that may attend to no key, in one sentence; empty where there are none.
Words keyless_warning(const Scene& scene, Place place);

// Whether the cells of a sheet can compute what the page shows: one item, in f64, of operations that a cell has a formula
// for, in some thousand cells.
bool cells_can_compute(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// One formula of the operands' cells, for a step of which that is true.
CellFormula cell_formula(const Scene& scene, const Step& step, const Spelling& spelling, EntryAt at);

}  // namespace mha::show
