// The pass through what an answer gives of a layer.
#include "study/check/examination.hpp"

#include <algorithm>

#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr double coarse = 0.06;  // numbers rounded to more than that may be the true ones by chance

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
constexpr Text adjusted_rows{
    "one weight of a row was moved by a unit of its last place, so that the row as written sums to exactly 1: that is "
    "right",
    "某一行有一个权重的末位改动了 1，使写出的各数之和恰为 1：这样做是对的"};

bool is_wrong(const Likeness& likeness) {
  return likeness.given && !likeness.matches();
}

// The pass through one answer.
class Examination {
 public:
  Examination(const GivenMatrices& given, const Precision& precision, const Reading& reading, const Yardstick& by,
              Budget& budget, Report& report)
      : given_(given),
        precision_(precision),
        plan_(by.plan),
        reading_(reading),
        sound_(given),
        truth_(reading),
        by_(by),
        report_(report),
        taint_(by.plan),
        budget_(budget),
        follows_others_(std::any_of(report.steps.begin(), report.steps.end(),
                                    [](const StepVerdict& step) { return step.verdict != Verdict::not_given; })) {
    const bool other_input = given.input.numbers != given.sound_input.numbers;
    const bool other_gradient = given.gradient.numbers != given.sound_gradient.numbers;
    if (!other_input && !other_gradient) return;
    if (other_input) taint_.add(StepId::X, 0);
    if (other_gradient) taint_.add(*plan_.loss_gradient);
    sound_.input = given.sound_input;
    sound_.gradient = given.sound_gradient;
    truth_ = *read_answer(plan_, sound_, precision_);
  }

  void examine() {
    for (const StepName& name : row_names)
      if (reading_.at(name.step)) examine(name.step);
    for (const StepName& name : row_names)
      if (const auto& step = reading_.at(name.step)) {
        if (step->number_for_infinity) add_once(report_.remarks, number_for_infinity);
        if (step->shifted_rows) add_once(report_.remarks, constant_added);
        if (step->other_keyless_rows) add_once(report_.remarks, other_keyless_rows);
        if (step->adjusted_rows) add_once(report_.remarks, adjusted_rows);
      }
    if (budget_.untried > 0) add_once(report_.remarks, not_all_tried);
  }

  // The likeliest mistake found last comes first, then what follows from all that is given, then what was meant.
  Handed hand_on() const {
    const auto result = [&](const RowPlan& plan) { return by_.backward ? StepId::d_X : result_of(plan.plan); };
    if (!by_.layer || !truth_.at(result(plan_))->used.numbers) return {};
    Handed handed{{}, truth_.at(result(plan_))->used, result(plan_), {}, {}};
    const auto add = [&](const Reading& reading, const RowPlan& plan) {
      const auto& row = reading.at(result(plan));  // a mistake may put norms elsewhere
      const auto is_there = [&](const Uncertain& way) { return way.numbers == row->used.numbers; };
      if (row && row->used.numbers->shape() == handed.sound.numbers->shape() &&
          std::none_of(handed.ways.begin(), handed.ways.end(), is_there))
        handed.ways.push_back(row->used);
    };
    for (auto made = diagnoses_.rbegin(); made != diagnoses_.rend(); ++made) add(made->reading, made->candidate->plan);
    add(reading_, plan_);
    for (const Reading& reading : without_slips_) add(reading, plan_);
    add(truth_, plan_);
    for (const StepName& name : row_names)
      if (given_.heads(name.step) > 0 && !is_of_no_layer(name.step) && !is_gradient(name.step)) handed.last = name.step;
    const auto& last = handed.last ? reading_.at(*handed.last) : std::optional<StepReading>();
    if (by_.backward || handed.last == handed.result || !last ||
        !(last->used.numbers->shape() == handed.sound.numbers->shape()))
      handed.last.reset();
    else
      handed.as_it_is = last->used;
    return handed;
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
    return std::any_of(without_slips_.begin(), without_slips_.end(), explains);
  }

  void find_mistake(StepId step, const std::vector<bool>& wrong) {
    Finding finding;
    finding.layer = by_.layer;
    finding.step = step;
    for (std::size_t head = 0; head < wrong.size(); ++head)
      if (wrong[head]) finding.heads.push_back(static_cast<Index>(head));
    finding.given = *given_.find(step, finding.heads.front());
    finding.expected = reading_.at(step)->expected;
    finding.layout = by_.layout;
    finding.begins = !follows_others_ && is_alone(given_, step);
    const auto tells = [&](const Diagnosis& made) { return made.reading.at(step).has_value(); };  // of its gradients, too
    const auto last = std::find_if(diagnoses_.rbegin(), diagnoses_.rend(), tells);
    const Reading& earlier = last == diagnoses_.rend() ? reading_ : last->reading;
    const Puzzle puzzle{given_, precision_, reading_, earlier, step, wrong, finding.begins && report_.findings.empty()};
    std::vector<Diagnosis> found;
    const auto try_all = [&](const Candidates& candidates) {
      if (found.empty()) found = diagnoses(candidates, puzzle, budget_);
    };
    if (by_.candidates != nullptr) try_all(*by_.candidates);
    if (found.empty())
      if (std::optional<Candidate> dropped = dropped_weights(plan_, puzzle)) try_all(Candidates(std::move(*dropped)));
    if (by_.pairs != nullptr) try_all(*by_.pairs);
    finding.sign = sign_of(step, finding.heads.front(), given_, reading_, plan_.plan);
    if (!found.empty() && finding.sign && finding.sign->explains) {  // but not where weights say otherwise
      const Likeness* next = found.front().reading.given(StepId::weights, static_cast<std::size_t>(finding.heads.front()));
      if (next != nullptr && !next->matches()) found.clear();
    }
    if (found.empty()) {
      finding.keys = other_keys(step, finding.given, reading_, finding.heads.front());
      const Start start = step == StepId::X ? Start() : Start{&reading_, step};
      without_slips_.push_back(*read_answer(plan_, given_.without(step, finding.heads), precision_, start));
      if (std::optional<Reading> followed = read_on_from_other_shape(plan_, given_, precision_, reading_, step))
        without_slips_.push_back(*std::move(followed));
    } else {
      finding.sign.reset();
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
    for (const StepName& name : row_names) {
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
    verdict.layer = by_.layer;
    verdict.step = step;
    verdict.is_in_problem = static_cast<Index>(head) < plan_.plan.value(*plan_.value(step)).shape.heads;
    if (!verdict.is_in_problem && !likeness.given) return Verdict::not_given;
    if (name_of(step).per_head) verdict.head = static_cast<Index>(head);
    verdict.max_difference = likeness.max_difference;
    verdict.entries_wrong = likeness.wrong;
    verdict.same_shape = likeness.same_shape;
    if (const GivenMatrix* matrix = given_.find(step, static_cast<Index>(head)))
      verdict.has_blanks = std::find(matrix->blank.begin(), matrix->blank.end(), true) != matrix->blank.end();
    verdict.verdict = verdict_of(step, head, unexplained);
    if (verdict.verdict == Verdict::right && is_wrong(likeness))  // right by the true numbers before it
      verdict.max_difference = likeness_to_true(step, head).max_difference, verdict.entries_wrong = 0;
    if (is_wrong(likeness)) taint_.add(step, head);
    if (step != StepId::X || by_.layer.value_or(0) == 0 || likeness.given) report_.steps.push_back(verdict);
    return verdict.verdict;
  }

  Verdict verdict_of(StepId step, std::size_t head, bool unexplained) const {
    const Likeness& likeness = reading_.at(step)->heads[head];
    if (!likeness.given) return Verdict::not_given;
    if (unexplained) return Verdict::wrong;
    if (!is_wrong(likeness) && !taint_.has(step, head)) return Verdict::right;
    if (is_true(step, head)) return Verdict::right;
    const Diagnosis* diagnosis = is_wrong(likeness) ? diagnosis_of(step, head) : nullptr;
    // Who goes back through what was computed before has made a mistake of the way there once.
    const bool made_here = diagnosis != nullptr && diagnosis->candidate->changed[static_cast<std::size_t>(step)] &&
                           is_gradient(step) == is_gradient(diagnosis->candidate->first);
    return made_here ? Verdict::wrong : Verdict::following;
  }

  // How the given numbers compare with those of somebody who made no mistake at all: with what follows from what is right
  // before them, or with the true ones, whatever stands before them.
  Likeness likeness_to_true(StepId step, std::size_t head) const {
    const auto number = static_cast<Index>(head);
    const Likeness* following = truth_.given(step, head);
    const GivenMatrix& given = *given_.find(step, number);
    const Likeness& as_read = following != nullptr ? *following : reading_.at(step)->heads[head];
    if (as_read.matches() || given.form.half_unit() > coarse || is_alone(given_, step)) return as_read;
    const std::shared_ptr<const Tensor> truth = by_.truth_of(step);
    return truth != nullptr ? likeness_to_truth(given, truth, number) : as_read;
  }

  bool is_true(StepId step, std::size_t head) const { return likeness_to_true(step, head).matches(); }

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
  const Yardstick& by_;
  Report& report_;
  Taint taint_;
  Budget& budget_;
  const bool follows_others_;         // something was given in the layers before
  std::vector<Diagnosis> diagnoses_;  // of the mistakes found so far, the likeliest of the latest last
  // What would follow without the matrices that are wrong for no known reason, or from those of another shape.
  std::vector<Reading> without_slips_;
};

}  // namespace

std::optional<StepId> first_wrong_step(const Reading& reading, std::size_t head) {
  for (const StepName& name : row_names)
    if (const Likeness* likeness = name.per_head ? reading.given(name.step, head) : nullptr)
      if (is_wrong(*likeness)) return name.step;
  return std::nullopt;
}

std::optional<StepId> first_wrong_step(const Reading& reading) {
  for (const StepName& name : row_names)
    if (const auto& step = reading.at(name.step))
      if (std::any_of(step->heads.begin(), step->heads.end(), is_wrong)) return name.step;
  return std::nullopt;
}

bool is_alone(const GivenMatrices& given, StepId step) {
  return std::all_of(row_names.begin(), row_names.end(),
                     [&](const StepName& name) { return name.step >= step || given.heads(name.step) == 0; });
}

void add_once(std::vector<Saying>& sayings, const Saying& saying) {
  const auto same = [&](const Saying& other) { return other.in(Language::en) == saying.in(Language::en); };
  if (std::none_of(sayings.begin(), sayings.end(), same)) sayings.push_back(saying);
}

Handed examine(const GivenMatrices& given, const Precision& precision, const Reading& reading, const Yardstick& by,
               Budget& budget, Report& report) {
  Examination examination(given, precision, reading, by, budget, report);
  examination.examine();
  return examination.hand_on();
}

}  // namespace mha::study
