// A causal computation as a model that writes does it: the new rows alone, with the keys and values of earlier ones from a
// cache.
#pragma once

#include <set>

#include "compute/engine.hpp"
#include "io/files/sink.hpp"
#include "show/pages/page_parts.hpp"

namespace mha::study {

// Rows first … first + count of X.
struct DecodedStep {
  Index first, count;
  Plan plan;
  Trace trace;
};

struct Multiplied {
  Index cached = 0, anew = 0;  // anew: if each step computed all rows up to its own
};

struct Decoding {
  Plan whole;  // of all rows at once, as `run` computes them
  Trace run;
  std::vector<DecodedStep> steps;
  Multiplied projected_tokens, multiply_adds;
  std::vector<Tensor> kept;     // at the end: K and V of each layer
  Index cache_numbers = 0;      // of these
  double difference = 0;        // the largest between a number of the steps and the same one of the run
  std::set<Index> rows_of_NaN;  // those in which some are NaN in both, which no difference tells
};

// One item: the first `prompt` tokens at once, then one after the other. An Error, which counts from `index_base`, names
// the step that needs later tokens. The decoding refers to the problem.
Decoding decode(const Problem& problem, Index prompt, Index index_base, compute::RunOptions options);

// Columns that the values of this step lack, since a window has dropped their keys.
Index dropped_columns(const DecodedStep& step, const Value& value);

// So many keys have left the caches of a layer when row `next` comes: its windows show them to no query from there on.
Index dropped_before(const Problem& layer, Index next);

show::Document decoding_page(const Problem& problem, const Decoding& decoding, const show::PageOptions& options);

void write_decoding_csv(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection);
void write_decoding(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection);

}  // namespace mha::study
