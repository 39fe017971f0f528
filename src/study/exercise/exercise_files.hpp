// The files of an exercise that no other command writes: the sheet on paper, the empty answer, the teacher's mistakes.
#pragma once

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/document.hpp"

namespace mha::study {

struct WorksheetOptions {
  enum class On { paper, notebook, sheet };

  Language language = Language::en;
  int decimals = 3;
  std::string student;  // empty: a blank to write the name on
  On on = On::paper;
  std::string due;  // until when it is handed in, in the teacher's words; empty: not said
};

show::Document worksheet(const Problem& problem, const WorksheetOptions& options);

// Flushing the sink is left to the caller.

// An answer file with null in every entry that is to be computed.
void write_answer_template(io::Sink& sink, const Problem& problem);

// For every form of every mistake that shows here: what was done, and its numbers from the first wrong step on.
void write_mistakes(io::Sink& sink, const Problem& problem);

}  // namespace mha::study
