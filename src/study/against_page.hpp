// A device held against the CPU, as a page and as JSON.
#pragma once

#include "io/sink.hpp"
#include "show/describe.hpp"
#include "study/against.hpp"

namespace mha {

// Of the options, language and index base count.
Document describe(const std::vector<ComparedStep>& steps, const Trace& trace, const PageOptions& options);

// {"format": "mha-against", …}: what the page says, numbers in full, counted from 1.
void write_against(Sink& sink, const std::vector<ComparedStep>& steps, const Trace& trace);

}  // namespace mha
