// A device held against the CPU, as a page and as JSON.
#pragma once

#include "io/files/sink.hpp"
#include "show/pages/describe.hpp"
#include "study/check/against.hpp"

namespace mha::study {

// Each step is within what its arithmetic allows.
bool all_pass(const std::vector<ComparedStep>& steps);

// Of the options, language and index base count.
show::Document describe(const std::vector<ComparedStep>& steps, const Trace& trace, const show::PageOptions& options);

// {"format": "mha-against", …}: what the page says, numbers in full, counted from 1.
void write_against(io::Sink& sink, const std::vector<ComparedStep>& steps, const Trace& trace);

}  // namespace mha::study
