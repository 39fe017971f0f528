// The files of an exercise that no other command writes: the empty answer, the teacher's mistakes.
#pragma once

#include "core/problem.hpp"
#include "io/files/sink.hpp"

namespace mha::study {

// Flushing the sink is left to the caller.

// An answer file with null in every entry that is to be computed.
void write_answer_template(io::Sink& sink, const Problem& problem);

// For every form of every mistake that shows here: what was done, and its numbers from the first wrong step on.
void write_mistakes(io::Sink& sink, const Problem& problem);

}  // namespace mha::study
