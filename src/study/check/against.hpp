// A device held against the CPU: each step again, in float64, from the device's own operands.
#pragma once

#include "core/trace.hpp"
#include "io/files/sink.hpp"
#include "show/pages/page_parts.hpp"

namespace mha::study {

// An entry of a step's result, its head the query head by which people name it; what the device has there, what the CPU
// has, and how far the dtype's arithmetic may be off.
struct ComparedEntry {
  Entry at;
  double device = 0, cpu = 0, bound = 0;

  double absolute() const;  // |device − cpu|; infinite where one of the two is NaN or infinite alone
  double relative() const;  // of the CPU's number; 0 where they are equal
  double share() const;     // of the bound; 0 where they are equal
};

struct ComparedStep {
  StepId step;
  std::string gradient;  // "dA", or a part or r: the symbol of what a backward step gives; empty for a forward one
  bool per_head;
  ComparedEntry absolute, relative;  // where the difference is largest, and where it is in proportion to the number
  ComparedEntry share;               // where it comes nearest to the bound, or passes it the farthest

  bool passes() const { return share.share() <= 1; }
};

// In the order of the computation. The trace holds every step's result and operands (values_to_keep with `operands`), and
// was not rounded by hand.
std::vector<ComparedStep> against_cpu(const Plan& plan, const Trace& trace);

// Each step is within what its arithmetic allows.
bool all_pass(const std::vector<ComparedStep>& steps);

// Of the options, language and index base count.
show::Document describe(const std::vector<ComparedStep>& steps, const Trace& trace, const show::PageOptions& options);

// {"format": "mha-against", …}: what the page says, numbers in full, counted from 1.
void write_against(io::Sink& sink, const std::vector<ComparedStep>& steps, const Trace& trace);

}  // namespace mha::study
