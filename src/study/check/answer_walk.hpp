// An answer read against a plan: each step computed from the person's own earlier numbers and compared with what is given.
#pragma once

#include <functional>
#include <vector>

#include "study/check/comparison.hpp"
#include "study/check/precision.hpp"

namespace mha::study {

struct StepReading {
  // What should stand there, the person's earlier numbers being what they are; the radius is the tolerance.
  Uncertain expected;
  // What the steps behind it read: the given numbers, and what is expected where none are.
  Uncertain used;
  std::vector<Likeness> heads;       // those of the plan, or of the answer if there are more
  bool number_for_infinity = false;  // −1e9 or the like was read as −∞
  bool shifted_rows = false;         // a constant was added to each row of masked scores
  bool other_keyless_rows = false;   // rows without a key have other weights than 0
  bool adjusted_rows = false;        // of each of these one weight was moved, so that they sum to 1
};

struct Reading {
  std::array<std::optional<StepReading>, row_count> steps;  // by StepId; nothing where the plan has no such step

  const std::optional<StepReading>& at(StepId step) const { return steps[static_cast<std::size_t>(step)]; }
  // Null where the plan or the answer has nothing there.
  const Likeness* given(StepId step, std::size_t head) const;
};

// What may be taken over from the reading of another plan.
struct Start {
  const Reading* reading = nullptr;
  StepId first = StepId::X;  // from here on the plans differ
};

// Whether to go on after this step.
using GoOn = std::function<bool(StepId, const StepReading&)>;

// Nothing where `go_on` ended it.
std::optional<Reading> read_answer(const RowPlan& plan, const GivenMatrices& given, const Precision& precision,
                                   const Start& start = {}, const GoOn& go_on = {});

// How a matrix compares with the true numbers of its step, as exactly as it is written.
Likeness likeness_to_truth(const GivenMatrix& given, const std::shared_ptr<const Tensor>& truth, Index head);

// As read_answer, for an answer all of whose numbers are what the plan gives by itself, as exactly as they are written:
// then they follow from what is given before them as well, and nothing else need be known. Nothing where they are not.
std::optional<Reading> read_as_true(const RowPlan& plan, const GivenMatrices& given, const TruthOf& truth_of);

// What follows from this step's matrices of another shape, if all heads have it, as far as the steps fit together.
// `reading` is that of the rest.
std::optional<Reading> read_on_from_other_shape(const RowPlan& rows, const GivenMatrices& given, const Precision& precision,
                                                const Reading& reading, StepId step);

// Below that many operations nothing is saved by it.
inline constexpr double worth_a_run = 2e7;

// What a plan by itself gives for a step.
std::shared_ptr<const Tensor> run_to(const RowPlan& plan, StepId step);

}  // namespace mha::study
