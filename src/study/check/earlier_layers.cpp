// Mistakes in layers of which nothing is given, told by what a later layer shows.
#include <algorithm>

#include "compute/cost.hpp"
#include "study/check/check.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr Index least_entries = 6;  // fewer numbers fit many mistakes by chance
constexpr char often = 'B';         // how often both mistakes of a pair are made, the one in the earlier layer at least

// What a layer reads after a mistake in an earlier one.
struct MistakenInput {
  const Mistake* mistake;
  std::string detail;
  int layer;
  Uncertain input;
};

std::shared_ptr<const Tensor> result_of_layer(const Problem& problem, const Tensor& X) {
  Problem own = problem;
  own.X = X;
  const Plan plan = answer_plan(own);
  return written(plan, simulate(plan))[static_cast<std::size_t>(result_of(plan))];
}

// Of the last problem, by each mistake in the one that reads X; the layers between make none.
void add_inputs(std::span<const Problem> layers, int first, const Tensor* X, const Uncertain& usual, Budget& budget,
                std::vector<MistakenInput>& inputs) {
  Problem mistaken = layers.front();
  if (X != nullptr) mistaken.X = *X;
  const Plan right = answer_plan(mistaken);
  const double cost = compute::operations(right);
  if (cost >= worth_a_run || !budget.allows(cost * static_cast<double>(mistakes().size() * layers.size()))) return;
  for (Outcome& outcome : outcomes(mistaken)) {
    std::shared_ptr<const Tensor> result = outcome.numbers[static_cast<std::size_t>(result_of(right))];
    for (std::size_t next = 1; next + 1 < layers.size() && result && result->shape() == layers[next].X.shape(); ++next)
      result = result_of_layer(layers[next], *result);
    if (outcome.shown_by && result && result->shape() == usual.numbers->shape())
      inputs.push_back({outcome.mistake, outcome.detail, first, {result, usual.radius}});
  }
}

}  // namespace

std::optional<Handed> Checker::blame_earlier(const Past& past, const Precision& precision, Budget& budget,
                                             const Report& before, Report& report) const {
  const std::size_t own = past.given.size() - 1, told = before.findings.size();
  if (report.findings.size() == told || past.received[own].ways.empty()) return std::nullopt;
  Finding& finding = report.findings[told];
  if (!finding.suspects.empty() || finding.given.numbers.size() < least_entries) return std::nullopt;
  std::vector<MistakenInput> inputs;
  for (std::size_t layer = own; layer-- > 0 && past.given[layer].empty();) {
    const auto& ways = past.received[layer].ways;
    add_inputs(std::span(problems_).subspan(layer, own - layer + 1), static_cast<int>(layer),
               ways.empty() ? nullptr : ways.front().numbers.get(), past.received[own].ways.front(), budget, inputs);
  }
  const auto check_from = [&](const MistakenInput& made, Report& found) {
    GivenMatrices given = past.given[own];
    Handed received = past.received[own];
    received.ways = {made.input};
    return layers_[own].check(given, precision, received, budget, found);
  };
  const MistakenInput* alone = nullptr;
  for (const MistakenInput& made : inputs) {
    const auto is_told = [&](const Suspect& other) { return other.mistake == made.mistake && other.earlier == made.layer; };
    if (std::any_of(finding.suspects.begin(), finding.suspects.end(), is_told) ||
        !layers_[own].follows_from(made.input, past.given[own], precision, budget))
      continue;
    if (alone == nullptr) alone = &made;
    finding.suspects.push_back({made.mistake, made.detail, nullptr, made.layer});
  }
  if (alone != nullptr) {
    finding.sign.reset();
    finding.entries = finding.given.numbers.size();
    Report right = before;
    return check_from(*alone, right);
  }
  for (const MistakenInput& made : inputs) {
    if (made.mistake->frequency > often) continue;
    Report found = before;
    Handed handed = check_from(made, found);
    if (found.findings.size() != told + 1 || found.findings[told].suspects.empty() || found.findings[told].suspects[0].also)
      continue;
    for (Suspect& suspect : found.findings[told].suspects) {
      suspect.also = made.mistake;
      suspect.earlier = made.layer;
      if (!made.detail.empty()) suspect.detail += (suspect.detail.empty() ? "" : "; ") + made.detail;
    }
    report = std::move(found);
    return handed;
  }
  return std::nullopt;
}

}  // namespace mha::study
