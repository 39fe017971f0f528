// What answers give of a layer, read against the formulas, or against the fair form of them that the person used.
#include "study/check/layer_check.hpp"

#include <algorithm>

#include "compute/cost.hpp"
#include "compute/engine.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr double chance = 1e-6;  // differences that tell nothing
constexpr Index no_chance = 64;  // so many entries that a mistake gives to the last digit, and the formulas do not

bool both_or_none(const std::optional<ValueId>& a, const std::optional<ValueId>& b) {
  return a.has_value() == b.has_value();
}

// Whether something that was given at this step or behind it is as expected.
bool confirms(const Reading& reading, StepId from) {
  for (const StepName& name : row_names)
    if (const auto& step = reading.at(name.step); step && name.step >= from)
      for (const Likeness& likeness : step->heads)
        if (likeness.given && likeness.matches()) return true;
  return false;
}

// Whether what was given before `end` is no nearer to what the formulas say than to what this reading says, wherever both
// would do.
bool fits_as_well(const Reading& reading, const Reading& formulas, StepId end) {
  for (const StepName& name : row_names) {
    const auto& step = reading.at(name.step);
    if (!step || name.step >= end) continue;
    for (std::size_t head = 0; head < step->heads.size(); ++head) {
      const Likeness *here = reading.given(name.step, head), *there = formulas.given(name.step, head);
      if (here == nullptr || there == nullptr || !here->matches() || !there->matches()) continue;
      if (here->squares > there->squares * (1 + chance) + chance * chance) return false;
    }
  }
  return true;
}

}  // namespace

LayerChecker::LayerChecker(const Problem& problem, std::optional<int> layer)
    : problem_(problem),
      layer_(layer),
      plan_(make_plan(problem)),
      right_(as_answered(plan_, problem)),
      candidates_(problem_, plan_, right_, mistakes_by_frequency()),
      pairs_(problem_, plan_, right_, mistake_pairs()) {}

std::shared_ptr<const Tensor> LayerChecker::truth(StepId step) const {
  if (!has(step)) return nullptr;
  compute_truth({step});
  const std::lock_guard lock(mutex_);
  return truth_.at(step);
}

void LayerChecker::prepare_truth(const GivenMatrices& given) const {
  std::vector<StepId> steps;
  for (const StepName& name : row_names)
    if (has(name.step) && given.heads(name.step) > 0) steps.push_back(name.step);
  compute_truth(steps);
}

bool LayerChecker::is_true(const GivenMatrices& given) const {
  return is_large() && read_as_true(right_, given, [this](StepId step) { return truth(step); });
}

void LayerChecker::compute_truth(std::vector<StepId> steps) const {
  const std::lock_guard lock(mutex_);
  const auto is_there = [&](StepId step) { return truth_.find(step) != truth_.end(); };
  if (std::all_of(steps.begin(), steps.end(), is_there)) return;
  compute::RunOptions options;
  options.keep.assign(right_.plan.values.size(), false);
  if (!is_large())  // a run is short then
    for (const StepName& name : row_names)
      if (has(name.step)) steps.push_back(name.step);
  for (const StepId step : steps) options.keep[static_cast<std::size_t>(*right_.value(step))] = true;
  const Trace trace = compute::run(right_.plan, options);
  for (const StepId step : steps) {
    const ValueId value = *right_.value(step);
    const auto& constant = right_.plan.value(value).constant;
    truth_.try_emplace(step, constant ? constant : trace.values[static_cast<std::size_t>(value)]);
  }
}

void LayerChecker::list(Report& report) const {
  for (const StepName& name : row_names)
    if (const std::optional<ValueId> value = right_.value(name.step); value && name.step != StepId::X)
      for (Index head = 0; head < (name.per_head ? right_.plan.value(*value).shape.heads : 1); ++head)
        report.steps.push_back({{layer_, name.step}, name.per_head ? std::optional(head) : std::nullopt});
}

Handed LayerChecker::check(GivenMatrices& given, const Precision& precision, const Handed& received, Budget& budget,
                           Report& report) const {
  budget.spent_closely = false;
  if (std::optional<Handed> handed = judge_closely(given, precision, received, budget, report)) return *std::move(handed);
  return judge(given, precision, read_best(given, precision, received), budget, report);
}

Handed LayerChecker::judge(const GivenMatrices& given, const Precision& precision, const Read& read, Budget& budget,
                           Report& report) const {
  for (const Saying& remark : read.remarks == nullptr ? std::vector<Saying>() : *read.remarks)
    add_once(report.remarks, remark);
  for (const StepName& name : row_names)
    if (given.heads(name.step) > 0 && !right_.value(name.step) && !read.plan->value(name.step) &&
        is_gradient(name.step) == problem_.loss.has_value())
      add_once(report.unknown, say({"this problem has no step {}: what is given there was passed over.",
                                    "这道题没有步骤 {}：其中给出的内容已忽略。"},
                                   LayerStep{layer_, name.step}.id()));
  Yardstick by{*read.plan,
               [this](StepId step) { return truth(step); },
               &candidates_,
               &pairs_,
               problem_.layout,
               layer_,
               problem_.loss.has_value()};
  if (budget.spent_closely) by.candidates = by.pairs = nullptr;
  return examine(given, precision, read.reading, by, budget, report);
}

// In large problems the roundings of steps that are not there allow for so much that a mistake may hide in it. Programs
// compute these, which seldom round in between: what a mistake gives to the last digit, in many entries that the formulas
// give otherwise, is that mistake. Where it is not, nothing is known yet of the verdict, but no mistake needs to be tried
// again.
std::optional<Handed> LayerChecker::judge_closely(GivenMatrices& given, const Precision& precision, const Handed& received,
                                                  Budget& budget, Report& report) const {
  if (!is_large() || !precision.propagated || precision.between.computed_in->bits < of_32_bits.bits) return std::nullopt;
  Precision closely = precision;
  closely.propagated = false;
  const Read read = read_best(given, closely, received);
  const std::optional<StepId> wrong = first_wrong_step(read.reading);
  Index entries = 0;
  if (wrong) {
    if (!is_alone(given, *wrong)) return std::nullopt;
    for (const Likeness& likeness : read.reading.at(*wrong)->heads) entries += likeness.given ? likeness.wrong : 0;
    if (entries < no_chance) return std::nullopt;
  }
  Report found = report;
  Handed handed = judge(given, closely, read, budget, found);
  budget.spent_closely = true;
  const auto is_own = [&](const Finding& finding) { return finding.layer == layer_; };
  const auto first = std::find_if(found.findings.begin(), found.findings.end(), is_own);
  if (first != found.findings.end() && first->suspects.empty()) return std::nullopt;
  report = std::move(found);
  return handed;
}

bool LayerChecker::is_large() const {
  return compute::operations(right_.plan) >= worth_a_run;
}

// From what the person may have read here, that in which the work stays right longest.
LayerChecker::Read LayerChecker::read_best(GivenMatrices& given, const Precision& precision, const Handed& received) const {
  if (received.ways.empty()) return read(given, precision, received.all_true);
  std::optional<Read> best;
  Uncertain& input = problem_.loss ? given.gradient : given.input;
  const Uncertain* best_way = nullptr;
  for (const Uncertain& way : received.ways) {
    input = way;
    Read read = this->read(given, precision);
    const std::optional<StepId> wrong = first_wrong_step(read.reading),
                                before = best ? first_wrong_step(best->reading) : wrong;
    if (best && (!before || (wrong && *wrong <= *before))) continue;
    best = std::move(read);
    best_way = &way;
  }
  input = *best_way;
  return *std::move(best);
}

bool LayerChecker::goes_on_from_last(GivenMatrices given, const Precision& precision, const Handed& received) const {
  if (!received.last || given.empty()) return false;
  const std::optional<StepId> before = first_wrong_step(read_best(given, precision, received).reading);
  if (!before) return false;
  given.input = received.as_it_is;
  const std::optional<StepId> now = first_wrong_step(read(given, precision).reading);
  return !now || *now > *before;
}

bool LayerChecker::follows_from(const Uncertain& input, GivenMatrices given, const Precision& precision,
                                Budget& budget) const {
  given.input = input;
  return budget.allows(cost_of_reading(right_.plan, precision, given)) &&
         !first_wrong_step(*read_answer(right_, given, precision));
}

std::vector<LayerChecker::FairPlan>& LayerChecker::fair_plans(const Factors& factors) const {
  const std::lock_guard lock(mutex_);
  const auto [plans, is_new] = fair_.try_emplace(factors);
  if (is_new)
    for (FairForm& form : fair_forms(problem_, factors))
      plans->second.push_back({RowPlan(std::move(form.plan)), form.remarks, form.rejoins});
  return plans->second;
}

bool LayerChecker::says_the_same(FairPlan& fair, StepId step) const {
  const std::shared_ptr<const Tensor> right = truth(step);
  const std::lock_guard lock(mutex_);
  const auto [same, is_new] = fair.says_the_same.try_emplace(step);
  if (is_new) same->second = study::distance(*run_to(fair.plan, step), *right) <= same_number;
  return same->second;
}

// Against the formulas; or, where that finds something wrong, against the fair form in which the work stays right longest,
// provided that it comes back to the numbers of the formulas.
LayerChecker::Read LayerChecker::read(const GivenMatrices& given, const Precision& precision, bool all_true) const {
  if (is_large() && !given.input.numbers && (!layer_ || all_true))  // the next layer reads what is known of the numbers
    if (std::optional<Reading> reading = read_as_true(right_, given, [this](StepId step) { return truth(step); }))
      return {std::move(*reading), &right_};
  const Reading formulas = *read_answer(right_, given, precision);
  Read best{formulas, &right_};
  std::optional<StepId> wrong = first_wrong_step(formulas);
  const auto try_all = [&](std::vector<FairPlan>& forms) {
    for (FairPlan& fair : forms) {
      if (!wrong) return;
      if (problem_.loss && !std::equal(right_.row.begin(), right_.row.end(), fair.plan.row.begin(), both_or_none))
        continue;  // not every gradient is known of it
      if (is_large() && !given.input.numbers && is_alone(given, *wrong) && says_the_same(fair, *wrong)) continue;
      Reading reading = *read_answer(fair.plan, given, precision);
      const std::optional<StepId> now = first_wrong_step(reading);
      const bool later = !now || (*now > *wrong && *now > fair.rejoins);
      if (!later || !confirms(reading, fair.rejoins) || !fits_as_well(reading, formulas, fair.rejoins)) continue;
      best = {std::move(reading), &fair.plan, &fair.remarks};
      wrong = now;
    }
  };
  const auto heads = static_cast<std::size_t>(problem_.heads);
  const bool usual = problem_.scale.kind == Scale::Kind::inverse_root_of_d_k;
  const Factors rounded = wrong && usual ? rounded_factors(problem_.d_k(), precision.factor_decimals) : Factors();
  for (const ScaleFactor& factor : rounded) try_all(fair_plans(Factors(heads, factor)));  // the nearest explanation of all
  Factors own(heads);  // of each head the first with which it stays right longer
  for (const ScaleFactor& factor : rounded) {
    if (!wrong || !name_of(*wrong).per_head) break;
    const Reading reading = *read_answer(fair_plans(Factors(heads, factor)).front().plan, given, precision);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::optional<StepId> before = first_wrong_step(formulas, head), now = first_wrong_step(reading, head);
      if (own[head].number == 0 && before && (!now || *now > *before)) own[head] = factor;
    }
  }
  if (std::adjacent_find(own.begin(), own.end(), std::not_equal_to()) != own.end()) try_all(fair_plans(own));
  if (wrong && !is_gradient(*wrong)) try_all(fair_plans());
  return best;
}

}  // namespace mha::study
