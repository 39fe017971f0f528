// How an entry comes about: what it is computed from, and if wanted what that is computed from, down to X and the weights.
#pragma once

#include "core/plan.hpp"
#include "io/files/sink.hpp"
#include "show/pages/spelling.hpp"

namespace mha::study {

// An entry of a step's result, or all of a row or column; everything from 0.
struct EntryRange {
  StepId step;
  int layer = 0;
  Index head = 0;                     // of the query heads; 0 for what belongs to all
  std::optional<Index> row, column;   // nothing: all
  std::optional<ValueId> value = {};  // instead of the step's result: what is given, or dL/d of either
};

// Whether a word is meant as an entry rather than as the name of a file or an example.
bool looks_like_entry(std::string_view text);

// Whether a word names an entry of a gradient: "dA1[2,3]", "layer2.dmlp.W_1[1,2]".
bool names_gradient(std::string_view text);

// Numbers count from `base`. What the problem does not have is an Error that says what it has.
EntryRange parse_entry(std::string_view text, const Problem& problem, const Plan& plan, Index base);

// How an entry is computed.
struct Derivation {
  const Step* step;
  std::string formula;                  // of the whole matrix: "Y = Concat · W_O"
  show::Work work;                      // names, numbers, value
  std::vector<show::Summand> summands;  // what is added up, if it is a sum
  std::vector<double> sums;             // the running sum after each of them
  std::optional<double> maximum;        // of a softmax: what is subtracted first
  std::vector<double> head_shares;      // of the output: what each head contributes
};

struct Explanation {
  ValueId value;
  show::Place place;
  show::EntryAt at;
  std::string entry;  // "Y[2,1]"
  double number;
  std::optional<Derivation> derivation;  // nothing for what is given, or was explained before
  bool explained_before = false;         // in the same tree
  std::vector<Explanation> operands;     // the entries that are read, as deep as was asked for
};

// How many steps are explained one behind the other: 1 for the entry alone, nothing for all down to what is given.
using Depth = std::optional<int>;

// The values, by ValueId, that the trace must hold.
std::vector<bool> values_behind(const Plan& plan, const EntryRange& range, Depth depth);

// Every entry of the range, in order.
std::vector<Explanation> explain(const show::Scenes& layers, const EntryRange& range, Depth depth);

// What was asked for, and the explanation of each entry of it.
struct ExplainedRange {
  EntryRange range;
  std::vector<Explanation> entries;
};

// As a page.
show::Document describe(const show::Scenes& layers, const std::vector<ExplainedRange>& ranges);

// As JSON: {"format": "mha-explanation", …, "entries": [{"entry", "step", "head", "row", "column", "value", "formula",
// "work", "terms", "maximum", "head_shares", "operands"}]}; what an entry does not have is left out.
void write_explanations(io::Sink& sink, const show::Scenes& layers, const std::vector<Explanation>& entries);

}  // namespace mha::study
