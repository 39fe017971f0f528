// Steps for a spreadsheet: a line for each entry.
#pragma once

#include "core/trace.hpp"
#include "io/files/sink.hpp"

namespace mha::study {

inline constexpr std::string_view steps_csv_header = "layer,head,item,step,row,column,row_label,column_label,value\n";

// Behind the header. Rows of the trace stand behind `past` others of the problem.
void write_steps_csv(io::Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace,
                     const Selection& selection, Index past = 0, const std::optional<Problem>& gradients = {});

}  // namespace mha::study
