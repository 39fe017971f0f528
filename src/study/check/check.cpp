// Checks answers: one pass through the steps in the order of the computation, all heads of a step before the next.
#include "study/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>

#include "compute/cost.hpp"
#include "core/error.hpp"
#include "core/op_rules.hpp"
#include "study/check/diagnose.hpp"
#include "study/check/plan_rows.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr Text number_for_infinity = {
    "a large negative number stands for −∞ in the masked scores: the weights are the same",
    "掩码后的分数中用很小的负数代替 −∞：权重相同"};
constexpr Text constant_added = {"a constant was added to each row of the masked scores: the weights are the same",
                                 "掩码后的分数每一行都加了一个常数：权重相同"};
constexpr Text not_all_tried = {
    "what may be computed for one answer (100,000 million operations) is used up: the rarer mistakes were not all tried",
    "一份答卷允许的计算量（1000 亿次运算）已用完：较少见的错误没有全部试过"};
constexpr Text other_keyless_rows = {"a row without a key has other weights than mha's 0: that is a matter of convention",
                                     "没有可看的键的行权重与 mha 的 0 不同：这只是约定不同"};

constexpr std::chrono::milliseconds between_reports(100);
constexpr double chance = 1e-6;  // differences that tell nothing
constexpr Index no_chance = 64;  // so many entries that a mistake gives to the last digit, and the formulas do not

// Nothing is rounded.
const Precision exactly = [] {
  Precision precision;
  precision.between.absolute = 0;
  precision.propagated = false;
  return precision;
}();

bool is_wrong(const Likeness& likeness) {
  return likeness.given && !likeness.matches();
}

// Of what belongs to this head alone.
std::optional<StepId> first_wrong_step(const Reading& reading, std::size_t head) {
  for (const StepName& name : step_names)
    if (const Likeness* likeness = name.per_head ? reading.given(name.step, head) : nullptr)
      if (is_wrong(*likeness)) return name.step;
  return std::nullopt;
}

std::optional<StepId> first_wrong_step(const Reading& reading) {
  for (const StepName& name : step_names)
    if (const auto& step = reading.at(name.step))
      if (std::any_of(step->heads.begin(), step->heads.end(), is_wrong)) return name.step;
  return std::nullopt;
}

// Whether something that was given at this step or behind it is as expected.
bool confirms(const Reading& reading, StepId from) {
  for (const StepName& name : step_names)
    if (const auto& step = reading.at(name.step); step && name.step >= from)
      for (const Likeness& likeness : step->heads)
        if (likeness.given && likeness.matches()) return true;
  return false;
}

// Whether nothing was given before this step.
bool is_alone(const GivenMatrices& given, StepId step) {
  return std::all_of(step_names.begin(), step_names.end(),
                     [&](const StepName& name) { return name.step >= step || given.heads(name.step) == 0; });
}

// Whether what was given before `end` is no nearer to what the formulas say than to what this reading says, wherever both
// would do.
bool fits_as_well(const Reading& reading, const Reading& formulas, StepId end) {
  for (const StepName& name : step_names) {
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

void tell_forms(GivenMatrices& given, Report& report) {
  given.for_each([&](StepId step, Index head, const GivenMatrix& matrix) {
    if (step == StepId::X) return;
    report.decimals = std::max(report.decimals, matrix.writing.decimals);
    auto alike = std::find_if(report.judged.begin(), report.judged.end(),
                              [&](const Judged& judged) { return judged.form.is_told_as(matrix.form); });
    if (alike == report.judged.end()) alike = report.judged.insert(alike, {matrix.form, {}});
    alike->matrices.emplace_back(step, head);
  });
  std::stable_sort(report.judged.begin(), report.judged.end(),
                   [](const Judged& a, const Judged& b) { return a.matrices.size() > b.matrices.size(); });
}

// The pass through one answer.
class Examination {
 public:
  Examination(const GivenMatrices& given, const Precision& precision, const RowPlan& plan, const Reading& reading,
              const std::vector<Candidate>& candidates, const std::vector<Candidate>& pairs, Layout layout, Budget& budget,
              Report& report)
      : given_(given),
        precision_(precision),
        plan_(plan),
        reading_(reading),
        sound_(given),
        truth_(reading),
        candidates_(candidates),
        pairs_(pairs),
        layout_(layout),
        report_(report),
        taint_(plan),
        budget_(budget) {}

  void examine() {
    for (const StepName& name : step_names)
      if (reading_.at(name.step)) examine(name.step);
    for (const StepName& name : step_names)
      if (const auto& step = reading_.at(name.step)) {
        if (step->number_for_infinity) report_.remarks.push_back(number_for_infinity);
        if (step->shifted_rows) report_.remarks.push_back(constant_added);
        if (step->other_keyless_rows) report_.remarks.push_back(other_keyless_rows);
      }
    if (budget_.untried > 0) report_.remarks.push_back(not_all_tried);
  }

 private:
  void examine(StepId step) {
    const std::vector<Likeness>& heads = reading_.at(step)->heads;
    taint_.spread_to(step);
    std::vector<bool> unexplained(heads.size(), false);
    for (std::size_t head = 0; head < heads.size(); ++head)
      unexplained[head] =
          is_wrong(heads[head]) && diagnosis_of(step, head) == nullptr && !avoids_slip(step, head) && !is_true(step, head);
    if (std::find(unexplained.begin(), unexplained.end(), true) != unexplained.end()) find_mistake(step, unexplained);
    std::vector<Index> unsound;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const Verdict verdict = give_verdict(step, head, unexplained[head]);
      if (verdict == Verdict::wrong || verdict == Verdict::following) unsound.push_back(static_cast<Index>(head));
    }
    if (!unsound.empty()) leave_out(step, unsound);
  }

  // The mistake found earlier from which these numbers follow.
  const Diagnosis* diagnosis_of(StepId step, std::size_t head) const {
    for (const Diagnosis& diagnosis : diagnoses_) {
      const Likeness* likeness = diagnosis.reading.given(step, head);
      if (likeness != nullptr && likeness->matches()) return &diagnosis;
    }
    return nullptr;
  }

  // Whether these numbers follow from what should have stood in place of a matrix that is wrong for no known reason: then
  // that was written down wrongly, but not worked with. Or from one of another shape.
  bool avoids_slip(StepId step, std::size_t head) const {
    const auto explains = [&](const Reading& reading) {
      const Likeness* likeness = reading.given(step, head);
      return likeness != nullptr && likeness->matches();
    };
    return std::any_of(without_slips_.begin(), without_slips_.end(), explains) ||
           (reshaped_ && explains(reshaped_->reading));
  }

  // What follows from matrices of another shape, if all heads have it, as far as the steps fit together.
  void read_on_from_other_shape(StepId step) {
    Plan whole = reshaped_ ? reshaped_->plan : plan_.plan;
    Reading start = reshaped_ ? reshaped_->reading : reading_;
    const ValueId id = *plan_.value(step);
    Shape& shape = whole.values[static_cast<std::size_t>(id)].shape;
    const GivenMatrix* first = given_.find(step, 0);
    if (first == nullptr || given_.heads(step) != shape.heads) return;
    const Shape own = first->numbers.shape();
    if (own.has_matrices_as(shape)) return;
    shape = {own.batch, shape.heads, own.rows, own.cols};
    Tensor numbers(shape), radius(shape);
    for (Index head = 0; head < shape.heads; ++head) {
      const GivenMatrix* matrix = given_.find(step, head);
      if (matrix == nullptr || !(matrix->numbers.shape() == own)) return;
      for (Index item = 0; item < own.batch; ++item) {
        const double* from = matrix->numbers.matrix(item, 0);
        std::copy_n(from, own.rows * own.cols, numbers.matrix(item, head));
        std::transform(from, from + own.rows * own.cols, radius.matrix(item, head),
                       [&](double number) { return matrix->form.written(number); });
      }
    }
    StepReading& here = start.steps[static_cast<std::size_t>(step)].emplace();
    here.used = {std::make_shared<Tensor>(std::move(numbers)), std::make_shared<Tensor>(std::move(radius))};
    if (!precision_.propagated) here.used.radius = nullptr;
    here.expected = here.used;
    const auto next = static_cast<StepId>(static_cast<std::size_t>(step) + 1);
    Plan fitting = whole;
    fitting.steps.clear();
    for (const Step& computed : whole.steps) {
      const Value& result = whole.value(computed.out);
      if (computed.id > step) {
        const std::optional<Shape> to = result_shape(fitting, computed, result.shape);
        if (!to) break;
        fitting.values[static_cast<std::size_t>(computed.out)].shape = *to;
      }
      fitting.steps.push_back(computed);
    }
    Reading reading = *read_answer(RowPlan(std::move(fitting)), given_, precision_, Start{&start, next});
    reshaped_ = {std::move(whole), std::move(reading)};
  }

  void find_mistake(StepId step, const std::vector<bool>& wrong) {
    Finding finding;
    finding.step = step;
    for (std::size_t head = 0; head < wrong.size(); ++head)
      if (wrong[head]) finding.heads.push_back(static_cast<Index>(head));
    finding.given = *given_.find(step, finding.heads.front());
    finding.expected = reading_.at(step)->expected;
    finding.layout = layout_;
    finding.begins = is_alone(given_, step);
    const Reading& earlier = diagnoses_.empty() ? reading_ : diagnoses_.back().reading;
    const Puzzle puzzle{given_, precision_, reading_, earlier, step, wrong, finding.begins && report_.findings.empty()};
    std::vector<Diagnosis> found = diagnoses(candidates_, puzzle, budget_);
    if (found.empty()) {
      if (std::optional<Candidate> dropped = dropped_weights(plan_, puzzle))
        found = diagnoses({&recognised_.emplace_back(std::move(*dropped)), 1}, puzzle, budget_);
    }
    if (found.empty()) found = diagnoses(pairs_, puzzle, budget_);
    if (found.empty()) {
      finding.sign = sign_of(step, finding.heads.front(), given_, reading_, plan_.plan);
      const Start start = step == StepId::X ? Start() : Start{&reading_, step};
      without_slips_.push_back(*read_answer(plan_, given_.without(step, finding.heads), precision_, start));
    } else {
      tell_evidence(found.front(), finding);
      for (const Diagnosis& diagnosis : found)
        finding.suspects.push_back({diagnosis.candidate->mistake, diagnosis.candidate->detail, diagnosis.candidate->also});
      if (found.front().candidate->mistake->first <= StepId::masked)
        finding.keys = other_keys(found.front().reading, reading_, finding.heads.front());
    }
    report_.findings.push_back(std::move(finding));
    for (auto diagnosis = found.rbegin(); diagnosis != found.rend(); ++diagnosis)
      diagnoses_.push_back(std::move(*diagnosis));
  }

  static void tell_evidence(const Diagnosis& best, Finding& finding) {
    finding.in_these_heads_only = !best.in_all_heads;
    finding.to_the_end = best.matching == best.given;
    for (const StepName& name : step_names) {
      const auto& step = best.reading.at(name.step);
      if (!step || name.step < finding.step) continue;
      bool any = false, all = true;
      for (const Likeness& likeness : step->heads) {
        if (!likeness.given) continue;
        any = true;
        all = all && likeness.matches();
        if (name.step == finding.step && likeness.matches()) finding.entries += likeness.entries;
      }
      if (!any || name.step == finding.step) continue;
      if (!all && best.in_all_heads) return;
      ++finding.later_steps;
    }
  }

  Verdict give_verdict(StepId step, std::size_t head, bool unexplained) {
    const Likeness& likeness = reading_.at(step)->heads[head];
    StepVerdict verdict;
    verdict.step = step;
    if (name_of(step).per_head) verdict.head = static_cast<Index>(head);
    verdict.max_difference = likeness.max_difference;
    verdict.entries_wrong = likeness.wrong;
    verdict.same_shape = likeness.same_shape;
    if (const GivenMatrix* matrix = given_.find(step, static_cast<Index>(head)))
      verdict.has_blanks = std::find(matrix->blank.begin(), matrix->blank.end(), true) != matrix->blank.end();
    verdict.verdict = verdict_of(step, head, unexplained);
    if (verdict.verdict == Verdict::right && is_wrong(likeness))  // right by the true numbers before it
      verdict.max_difference = truth_.given(step, head)->max_difference, verdict.entries_wrong = 0;
    if (is_wrong(likeness)) taint_.add(step, head);
    report_.steps.push_back(verdict);
    return verdict.verdict;
  }

  Verdict verdict_of(StepId step, std::size_t head, bool unexplained) const {
    const Likeness& likeness = reading_.at(step)->heads[head];
    if (!likeness.given) return Verdict::not_given;
    if (unexplained) return Verdict::wrong;
    if (!is_wrong(likeness) && !taint_.has(step, head)) return Verdict::right;
    if (is_true(step, head)) return Verdict::right;
    const Diagnosis* diagnosis = is_wrong(likeness) ? diagnosis_of(step, head) : nullptr;
    const bool made_here = diagnosis != nullptr && diagnosis->candidate->changed[static_cast<std::size_t>(step)];
    return made_here ? Verdict::wrong : Verdict::following;
  }

  // Whether the given numbers are those of somebody who made no mistake at all: they follow from what is right before them.
  bool is_true(StepId step, std::size_t head) const {
    const Likeness* likeness = truth_.given(step, head);
    return likeness != nullptr && likeness->matches();
  }

  // What is wrong, or follows from it, tells nothing of what is true.
  void leave_out(StepId step, const std::vector<Index>& heads) {
    sound_ = sound_.without(step, heads);
    truth_ = *read_answer(plan_, sound_, precision_, step == StepId::X ? Start() : Start{&truth_, step});
  }

  const GivenMatrices& given_;
  const Precision& precision_;
  const RowPlan& plan_;
  const Reading& reading_;
  GivenMatrices sound_;  // what is right so far, and all that comes behind
  Reading truth_;        // of these
  const std::vector<Candidate>&candidates_, &pairs_;
  Layout layout_;
  Report& report_;
  Taint taint_;
  Budget& budget_;
  std::list<Candidate> recognised_;   // from the numbers given
  std::vector<Diagnosis> diagnoses_;  // of the mistakes found so far, the likeliest of the latest last
  struct Reshaped {
    Plan plan;  // with the shapes that were given so far
    Reading reading;
  };
  std::optional<Reshaped> reshaped_;
  std::vector<Reading> without_slips_;  // what would follow without the matrices that are wrong for no known reason
};

}  // namespace

Checker::Checker(const Problem& problem, const ToleranceOptions& tolerance)
    : problem_(problem),
      tolerance_(tolerance),
      right_(answer_plan(problem)),
      fair_(plans_of(fair_forms(problem))),
      candidates_(make_candidates(problem, right_)),
      pairs_(make_pairs(problem, right_)) {
  key_ = *read_answer(right_, GivenMatrices(io::Answer(), problem), exactly);
}

std::vector<Checker::FairPlan> Checker::plans_of(std::vector<FairForm> forms) {
  std::vector<FairPlan> plans;
  for (FairForm& form : forms) plans.push_back({RowPlan(std::move(form.plan)), form.remarks, form.rejoins});
  return plans;
}

const std::vector<Checker::FairPlan>& Checker::with_factors(const Factors& factors) const {
  const std::lock_guard lock(mutex_);
  const auto [forms, is_new] = with_factors_.try_emplace(factors);
  if (is_new) forms->second = plans_of(fair_forms(problem_, factors));
  return forms->second;
}

Report Checker::check(const io::Answer& answer) const {
  Report report;
  report.name = answer.name;
  report.unknown = answer.unknown;
  for (const io::AnswerMatrix& matrix : answer.matrices)
    if (matrix.step != StepId::X) report.blanks += static_cast<Index>(matrix.blank.size());
  GivenMatrices given(answer, problem_);
  const Precision precision = recognise_forms(
      given, tolerance_, [&](StepId step) { return key_.at(step) ? key_.at(step)->expected.numbers.get() : nullptr; });
  tell_forms(given, report);
  Budget budget;
  if (!judge_closely(given, precision, budget, report)) judge(given, precision, read(given, precision), budget, report);
  report.of = nothing_given().of;
  const auto is_judged = [](const StepVerdict& step) {  // X is the problem's own
    return step.verdict != Verdict::not_given && (step.step != StepId::X || step.verdict == Verdict::wrong);
  };
  const auto is_step = [&](StepId step) { return right_.value(step).has_value(); };
  if (std::any_of(report.steps.begin(), report.steps.end(), is_judged)) return report;
  report.all_blank = std::any_of(answer.left_blank.begin(), answer.left_blank.end(), is_step);
  if (!report.all_blank)
    report.unusable =
        say({"{}: nothing in it can be judged; {}", "{}：没有可以批改的内容；{}"}, answer.name,
            report.unknown.empty() ? Saying{"fill in at least one step", "请至少填写一个步骤"} : report.unknown.front());
  return report;
}

void Checker::judge(const GivenMatrices& given, const Precision& precision, const Read& read, Budget& budget,
                    Report& report) const {
  if (read.remarks != nullptr) report.remarks = *read.remarks;
  for (const StepName& name : step_names)
    if (given.heads(name.step) > 0 && !right_.value(name.step) && !read.plan->value(name.step))
      report.unknown.push_back(say({"this problem has no step {}: what is given there was passed over.",
                                    "这道题没有步骤 {}：其中给出的内容已忽略。"},
                                   name.id));
  static const std::vector<Candidate> none;
  const bool all_tried = budget.spent_closely;
  Examination(given, precision, *read.plan, read.reading, all_tried ? none : candidates_, all_tried ? none : pairs_,
              problem_.layout, budget, report)
      .examine();
}

// In large problems the roundings of steps that are not there allow for so much that a mistake may hide in it. Programs
// compute these, which seldom round in between: what a mistake gives to the last digit, in many entries that the formulas
// give otherwise, is that mistake. Where it is not, nothing is known yet of the verdict, but no mistake needs to be tried
// again.
bool Checker::judge_closely(const GivenMatrices& given, const Precision& precision, Budget& budget, Report& report) const {
  if (!is_large() || !precision.propagated || precision.between.computed_in->bits < of_32_bits.bits) return false;
  Precision closely = precision;
  closely.propagated = false;
  const Read read = this->read(given, closely);
  const std::optional<StepId> wrong = first_wrong_step(read.reading);
  Index entries = 0;
  if (wrong) {
    if (!is_alone(given, *wrong)) return false;
    for (const Likeness& likeness : read.reading.at(*wrong)->heads) entries += likeness.given ? likeness.wrong : 0;
    if (entries < no_chance) return false;
  }
  Report found = report;
  judge(given, closely, read, budget, found);
  budget.spent_closely = true;
  if (!found.findings.empty() && found.findings.front().suspects.empty()) return false;
  report = std::move(found);
  return true;
}

Report Checker::nothing_given() const {
  Report report;
  for (const StepName& name : step_names)
    if (const std::optional<ValueId> value = right_.value(name.step); value && name.step != StepId::X)
      for (Index head = 0; head < (name.per_head ? right_.plan.value(*value).shape.heads : 1); ++head)
        report.steps.push_back({name.step, name.per_head ? std::optional(head) : std::nullopt});
  report.of = static_cast<Index>(report.steps.size());
  return report;
}

bool Checker::is_large() const {
  return compute::operations(right_.plan) >= worth_a_run;
}

// Against the formulas; or, where that finds something wrong, against the fair form in which the work stays right longest,
// provided that it comes back to the numbers of the formulas.
Checker::Read Checker::read(const GivenMatrices& given, const Precision& precision) const {
  if (is_large())
    if (std::optional<Reading> reading = read_as_true(right_, given)) return {std::move(*reading), &right_, nullptr};
  const Reading formulas = *read_answer(right_, given, precision);
  Read best{formulas, &right_, nullptr};
  std::optional<StepId> wrong = first_wrong_step(formulas);
  const auto try_all = [&](const std::vector<FairPlan>& forms) {
    for (const FairPlan& fair : forms) {
      if (!wrong) return;
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
  const Factors rounded = wrong ? rounded_factors(problem_, precision.factor_decimals) : Factors();
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
  try_all(fair_);
  return best;
}

namespace {

Report check_one(const CheckerOf& checker_of, const io::AnswerSource& answer) {
  std::shared_ptr<const Checker> checker;
  Report report;
  try {
    checker = checker_of(answer);
    if (answer.read) {
      const io::Answer given = answer.read();  // throws where the answer belongs to no problem, and so to no checker
      report = checker->check(given);
    } else if (checker != nullptr) {
      report = checker->nothing_given();
    }
    report.missing = !answer.read;
  } catch (const Error& error) {
    if (checker != nullptr) report = checker->nothing_given();
    report.name = answer.file;
    report.unusable = error.sentence();
  }
  if (!answer.name.empty()) report.name = answer.name;
  report.file = answer.file;
  return report;
}

}  // namespace

std::vector<Report> check_all(const CheckerOf& checker_of, const std::vector<io::AnswerSource>& answers,
                              const Grading& grading, int threads, const std::function<void(std::size_t done)>& progress) {
  std::vector<Report> reports(answers.size());
  std::atomic<std::size_t> done = 0;
  compute::Workers workers(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), answers.size())));
  auto told = std::chrono::steady_clock::now();
  workers.each(static_cast<Index>(answers.size()), [&](Index piece, int worker) {
    Report& report = reports[static_cast<std::size_t>(piece)];
    report = check_one(checker_of, answers[static_cast<std::size_t>(piece)]);
    grade(report, grading);
    ++done;
    if (worker != 0 || std::chrono::steady_clock::now() - told < between_reports) return;  // 0: the thread that called
    progress(done);
    told = std::chrono::steady_clock::now();
  });
  return reports;
}

}  // namespace mha::study
