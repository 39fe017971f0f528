// The trace file: every chosen step of a run as JSON, streamed.
#pragma once

#include "core/trace.hpp"
#include "io/files/sink.hpp"

namespace mha::io {

// Writes what was kept of the chosen steps and heads. `with_weights` adds the problem's weights, in the form in which the
// problem gave them, and its masks' matrices. Flushing the sink is left to the caller.
void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights);

}  // namespace mha::io
