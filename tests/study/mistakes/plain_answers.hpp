// Answers as students hand them in: as JSON, with few decimals, in part, or right in an unusual form.
#pragma once

#include "folders.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "study/mistakes/plain_attention.hpp"

namespace mha::test {

// Every number as finished, rounded for writing only; with plain_right(problem, decimals) each stage is computed from
// rounded numbers instead.
PlainTrace written_with(const PlainTrace& trace, int decimals);

PlainTrace only(const PlainTrace& trace, const std::set<StepId>& steps);
PlainTrace without(PlainTrace trace, const std::set<StepId>& steps);
inline const std::set<StepId> weights_and_output = {StepId::weights, StepId::output};

enum class AnswerForm {
  nested,  // {"heads": [{"Q": …}, …], "concat": …, "output": …}, as a trace
  flat,    // {"Q1": …, "A1": …, "Y": …}; the packed steps, which have no flat name, are left out
};
std::string answer_text(const PlainTrace& trace, AnswerForm form = AnswerForm::nested);

// Work that is right though it does not look like the formulas, and must not be accused.
struct FairForm {
  std::string name;
  std::function<bool(const Problem&)> applies;
  std::function<PlainTrace(const Problem&, std::optional<int> decimals)> run;
};
std::vector<FairForm> fair_forms();

}  // namespace mha::test
