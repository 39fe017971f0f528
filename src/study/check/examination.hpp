// The pass through what an answer gives of a layer, all heads of a step before the next: verdicts, and what went wrong.
#pragma once

#include "study/check/diagnose.hpp"
#include "study/check/report.hpp"

namespace mha::study {

// The first step of which something given is not as expected.
std::optional<StepId> first_wrong_step(const Reading& reading);
// Of what belongs to this head alone.
std::optional<StepId> first_wrong_step(const Reading& reading, std::size_t head);

// Whether nothing was given before this step.
bool is_alone(const GivenMatrices& given, StepId step);

void add_once(std::vector<Saying>& sayings, const Saying& saying);

// What one layer gives and the next one reads (on the way back, the one before): as the person may have had it, the
// likeliest first, and as it follows from what is right alone.
struct Handed {
  std::vector<Uncertain> ways;
  Uncertain sound;
  // The last step that was given, where it is not the one that the layer gives: who forgot the rest goes on from there.
  StepId result = StepId::X;
  std::optional<StepId> last;
  Uncertain as_it_is;
  bool all_true = false;  // in every layer: then none needs to know what the one before gives
};

// What an answer is read against, and with what its mistakes are looked for.
struct Yardstick {
  const RowPlan& plan;
  TruthOf truth_of;
  const Candidates *candidates, *pairs;  // null: all were tried
  Layout layout;
  std::optional<int> layer;  // of a stack
  bool backward = false;     // gradients are rows as well
};

// Adds to the report, which tells of the layers before.
Handed examine(const GivenMatrices& given, const Precision& precision, const Reading& reading, const Yardstick& by,
               Budget& budget, Report& report);

}  // namespace mha::study
