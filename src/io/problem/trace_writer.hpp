// The trace file: every chosen step of a run as JSON, streamed.
#pragma once

#include <functional>

#include "core/trace.hpp"
#include "io/json/writer.hpp"

namespace mha::io {

// The matrices of steps, of a run or of a person's work.
struct StepMatrices {
  std::function<const Tensor*(StepId step)> of;                   // null: left out
  std::function<void(const Tensor& matrices, Index head)> write;  // what stands for one head of them
  Index heads = 1;                                                // of the queries
  std::optional<Index> kv_heads = {};                             // told beside each head
  Selection selection = {};                                       // of heads
};

// Members of the open object: {"X": …, "packed": {"Q": …}, "heads": [{"head": 1, "Q": …}, …], "concat": …, "output": …}.
void write_steps(JsonWriter& json, const StepMatrices& steps);

// A member of the open object: sizes, rules, labels.
void write_config(JsonWriter& json, const Problem& problem);

// Members of the open object: the chosen steps, those of a stack in "layers", and with `with_weights` the weights; behind
// them the loss and the gradients of a plan that goes back.
void write_computed(JsonWriter& json, const Problem& problem, const Plan& plan, const Trace& trace,
                    const Selection& selection, bool with_weights);

// Writes what was kept of the chosen steps and heads. `with_weights` adds the problem's weights, in the form in which the
// problem gave them, and its masks' matrices. Flushing the sink is left to the caller.
void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights);

}  // namespace mha::io
