// What answers give of a layer, read against the formulas, or against the fair form of them that the person used.
#include "study/check/layer_check.hpp"

#include <algorithm>

#include "compute/cost.hpp"

namespace mha::study {
namespace {

constexpr double chance = 1e-6;  // differences that tell nothing
constexpr Index no_chance = 64;  // so many entries that a mistake gives to the last digit, and the formulas do not

// Nothing is rounded.
const Precision exactly = [] {
  Precision precision;
  precision.between.absolute = 0;
  precision.propagated = false;
  return precision;
}();

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
      right_(answer_plan(problem)),
      fair_(plans_of(fair_forms(problem))),
      candidates_(make_candidates(problem, right_)),
      pairs_(make_pairs(problem, right_)) {
  key_ = *read_answer(right_, GivenMatrices(io::Answer(), problem), exactly);
}

const Tensor* LayerChecker::truth(StepId step) const {
  return key_.at(step) ? key_.at(step)->expected.numbers.get() : nullptr;
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
  Yardstick by{*read.plan, candidates_, pairs_, problem_.layout, layer_, problem_.loss.has_value()};
  if (budget.spent_closely) by.candidates = by.pairs = {};
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
  if (received.ways.empty()) return read(given, precision);
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

bool LayerChecker::follows_from(const Uncertain& input, GivenMatrices given, const Precision& precision) const {
  given.input = input;
  return !first_wrong_step(*read_answer(right_, given, precision));
}

std::vector<LayerChecker::FairPlan> LayerChecker::plans_of(std::vector<FairForm> forms) {
  std::vector<FairPlan> plans;
  plans.reserve(forms.size());
  for (FairForm& form : forms) plans.push_back({RowPlan(std::move(form.plan)), form.remarks, form.rejoins});
  return plans;
}

const std::vector<LayerChecker::FairPlan>& LayerChecker::with_factors(const Factors& factors) const {
  const std::lock_guard lock(mutex_);
  const auto [forms, is_new] = with_factors_.try_emplace(factors);
  if (is_new) forms->second = plans_of(fair_forms(problem_, factors));
  return forms->second;
}

// Against the formulas; or, where that finds something wrong, against the fair form in which the work stays right longest,
// provided that it comes back to the numbers of the formulas.
LayerChecker::Read LayerChecker::read(const GivenMatrices& given, const Precision& precision) const {
  if (is_large() && !layer_)  // the next layer reads what is known of the numbers
    if (std::optional<Reading> reading = read_as_true(right_, given)) return {std::move(*reading), &right_};
  const Reading formulas = *read_answer(right_, given, precision);
  Read best{formulas, &right_};
  std::optional<StepId> wrong = first_wrong_step(formulas);
  const auto try_all = [&](const std::vector<FairPlan>& forms) {
    for (const FairPlan& fair : forms) {
      if (!wrong) return;
      if (problem_.loss && !std::equal(right_.row.begin(), right_.row.end(), fair.plan.row.begin(), both_or_none))
        continue;  // not every gradient is known of it
      if (is_large() && is_alone(given, *wrong) &&
          study::distance(*run_to(fair.plan, *wrong), *formulas.at(*wrong)->expected.numbers) <= same_number)
        continue;  // it would say the same
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
  for (const ScaleFactor& factor : rounded)
    try_all(with_factors(Factors(heads, factor)));  // the nearest explanation of all
  Factors own(heads);                               // of each head the first with which it stays right longer
  for (const ScaleFactor& factor : rounded) {
    if (!wrong || !name_of(*wrong).per_head) break;
    const Reading reading = *read_answer(with_factors(Factors(heads, factor)).front().plan, given, precision);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::optional<StepId> before = first_wrong_step(formulas, head), now = first_wrong_step(reading, head);
      if (own[head].number == 0 && before && (!now || *now > *before)) own[head] = factor;
    }
  }
  if (std::adjacent_find(own.begin(), own.end(), std::not_equal_to()) != own.end()) try_all(with_factors(own));
  if (wrong && !is_gradient(*wrong)) try_all(fair_);
  return best;
}

}  // namespace mha::study
