// Which known mistakes explain a wrong step.
#include "study/check/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "compute/cost.hpp"
#include "study/check/draws.hpp"
#include "study/mistakes/plan_editor.hpp"

namespace mha::study {
namespace {

constexpr double readings_worth = 10;  // runs of the plan, which a reading with all its tolerances takes
constexpr double margin = 8, wide_margin = 64;

// Follows one candidate through the answer, up to the first number that it cannot have produced.
class Trial {
 public:
  Trial(const Candidates::One& candidate, const Puzzle& puzzle, Budget& budget)
      : shared_(candidate), candidate_(*candidate), puzzle_(puzzle), budget_(budget) {}

  std::optional<Diagnosis> run() {
    if (!candidate_.plan.value(puzzle_.step)) return std::nullopt;  // nothing is known of what is to be explained
    const double cost = compute::operations(candidate_.plan.plan);
    const bool drawn = is_drawn(puzzle_.precision, candidate_.plan.plan, puzzle_.given);
    const bool is_long = cost >= worth_a_run || (drawn && cost >= most_by_hand);
    if (puzzle_.begins && is_long && (!budget_.allows(cost) || is_far_off())) return std::nullopt;
    if (!budget_.allows(cost_of_reading(candidate_.plan.plan, puzzle_.precision, puzzle_.given))) return std::nullopt;
    switch (takes_over()) {
      case TakesOver::as_it_is: return run(candidate_.plan);
      case TakesOver::other_shapes:
        if (const std::optional<RowPlan> plan = with_shapes_of_earlier()) return run(*plan);
        return std::nullopt;
      case TakesOver::nothing: return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  enum class TakesOver { as_it_is, other_shapes, nothing };

  // Whether the mistake by itself gives quite other numbers than those to be explained. How far they may be off is known
  // of the right ones only; where the mistake gives larger numbers, they may be further off by as much.
  bool is_far_off() const {
    return candidate_.plan.value(puzzle_.step) && is_far_off(run_to(candidate_.plan, puzzle_.step), margin);
  }

  bool is_far_off(const std::shared_ptr<const Tensor>& made, double margin) const {
    const auto& right = puzzle_.right.at(puzzle_.step);
    if (!right) return false;
    const auto largest = [](const Tensor& tensor) {
      double most = 0;
      for (Index i = 0; i < tensor.size(); ++i)
        if (std::isfinite(tensor.data()[i])) most = std::max(most, std::abs(tensor.data()[i]));
      return most;
    };
    const double grown = std::max(1.0, largest(*made) / largest(*right->expected.numbers));
    Tensor radius(made->shape());
    radius.fill(margin * grown * largest(*right->expected.radius));
    const Uncertain expected{made, std::make_shared<const Tensor>(std::move(radius))};
    for (std::size_t head = 0; head < puzzle_.wrong.size(); ++head)
      if (puzzle_.wrong[head])
        return !compare(*puzzle_.given.find(puzzle_.step, static_cast<Index>(head)), expected, static_cast<Index>(head))
                    .matches();
    return false;
  }

  // Whether the rows before the mistake are there, and as the mistake's plan has them: an earlier mistake may have left
  // some out or changed their shapes.
  TakesOver takes_over() const {
    TakesOver result = TakesOver::as_it_is;
    for (const StepName& name : row_names) {
      const std::optional<ValueId> id = candidate_.plan.value(name.step);
      if (!id || name.step >= candidate_.first) continue;
      const auto& row = puzzle_.earlier.at(name.step);
      if (!row) return TakesOver::nothing;
      if (!(row->used.numbers->shape() == candidate_.plan.plan.value(*id).shape)) result = TakesOver::other_shapes;
    }
    return result;
  }

  std::optional<RowPlan> with_shapes_of_earlier() const {
    Plan plan = candidate_.plan.plan;
    for (const StepName& name : row_names)
      if (const std::optional<ValueId> id = candidate_.plan.value(name.step); id && name.step < candidate_.first)
        plan.values[static_cast<std::size_t>(*id)].shape = puzzle_.earlier.at(name.step)->used.numbers->shape();
    if (!infer_shapes(plan, candidate_.first)) return std::nullopt;
    return RowPlan(std::move(plan));
  }

  std::optional<Diagnosis> run(const RowPlan& plan) {
    const Start start{&puzzle_.earlier, candidate_.first};
    const auto go_on = [this](StepId row, const StepReading& reading) { return row > puzzle_.step || fits(row, reading); };
    if (is_drawn(puzzle_.precision, plan.plan, puzzle_.given)) {  // most are ruled out sooner
      Precision exactly = puzzle_.precision;
      exactly.propagated = false;
      const auto is_near = [this](StepId row, const StepReading& reading) {
        return row != puzzle_.step || !is_far_off(reading.expected.numbers, wide_margin);
      };
      if (!read_answer(plan, puzzle_.given, exactly, start, is_near)) return std::nullopt;
      Precision worst_case = puzzle_.precision;
      worst_case.worst_case = true;
      if (!read_answer(plan, puzzle_.given, worst_case, start, go_on)) return std::nullopt;
      in_all_heads_ = true;
    }
    std::optional<Reading> reading = read_answer(plan, puzzle_.given, puzzle_.precision, start, go_on);
    if (!reading) return std::nullopt;
    Diagnosis result{shared_, std::move(*reading), in_all_heads_, 0, 0, 0, 0};
    measure(result);
    // Masked scores tell nothing of a softmax that was left out behind them.
    if (candidate_.mistake->first == StepId::weights && puzzle_.step < StepId::weights && !result.shows)
      return std::nullopt;
    return result;
  }

  // Up to the wrong step the mistake must show nowhere but in what is wrong there.
  bool fits(StepId row, const StepReading& reading) {
    for (std::size_t head = 0; head < reading.heads.size(); ++head) {
      const Likeness& likeness = reading.heads[head];
      if (!likeness.given || likeness.matches()) continue;
      const bool to_explain = row == puzzle_.step && head < puzzle_.wrong.size() && puzzle_.wrong[head];
      const Likeness* right = puzzle_.right.given(row, head);
      const bool was_right = right != nullptr && right->matches();
      if (to_explain || (was_right && puzzle_.concerns(row, head))) return false;
      if (was_right) in_all_heads_ = false;
    }
    return true;
  }

  void measure(Diagnosis& result) const {
    bool unbroken = true;
    double misfit = 0;
    Index entries = 0;
    for (std::size_t step = static_cast<std::size_t>(puzzle_.step); step < row_count; ++step) {
      const StepId row = row_names[step].step;
      if (!result.reading.at(row)) continue;
      for (std::size_t head = 0; head < result.reading.at(row)->heads.size(); ++head) {
        const Likeness* likeness = result.reading.given(row, head);
        if (likeness == nullptr || !(result.in_all_heads || puzzle_.concerns(row, head))) continue;
        ++result.given;
        unbroken = unbroken && likeness->matches();
        if (!likeness->matches()) continue;
        ++result.matching;
        result.shows = result.shows || row >= candidate_.mistake->first;
        if (unbroken) ++result.reach;
        misfit += likeness->misfit;
        entries += likeness->entries;
      }
    }
    result.misfit = entries == 0 ? 0 : misfit / static_cast<double>(entries);
  }

  const Candidates::One& shared_;
  const Candidate& candidate_;
  const Puzzle& puzzle_;
  Budget& budget_;
  bool in_all_heads_ = true;
};

// How much it explains: more is better, and of as much, without another convention for rows without a key.
auto power_of(const Diagnosis& e) {
  const auto& weights = e.reading.at(StepId::weights);
  return std::tuple(e.in_all_heads, e.reach, e.matching, !(weights && weights->other_keyless_rows));
}

// Nearer to the numbers is likelier, as far as rounding lets one tell; then what people do more often.
auto unlikelihood_of(const Diagnosis& e) {
  constexpr double steps = 10;  // finer differences are chance
  const Candidate& made = *e.candidate;
  const char second = made.also == nullptr ? '\0' : made.also->frequency;
  return std::tuple(std::floor(e.misfit * steps), made.mistake->frequency, second, made.mistake);
}

}  // namespace

Candidates::Candidates(const Problem& problem, const Plan& plan, const RowPlan& right, std::vector<MistakePair> mistakes)
    : problem_(&problem), plan_(&plan), right_(&right), mistakes_(std::move(mistakes)), made_(mistakes_.size()) {}

Candidates::Forms Candidates::forms(std::size_t place) const {
  Forms result;
  const auto& [mistake, also] = mistakes_[place];
  for (Variant& form : mistakes_[place].variants(*problem_, *plan_)) {
    RowPlan plan(std::move(form.plan));
    const Rows changed = changed_rows(plan, *right_);
    const auto first = std::find(changed.begin(), changed.end(), true);
    if (first == changed.end()) continue;
    const StepId step = row_names[static_cast<std::size_t>(first - changed.begin())].step;
    Candidate candidate{mistake, std::move(form.detail), std::move(plan), changed, step, also};
    result.push_back(std::make_shared<const Candidate>(std::move(candidate)));
  }
  return result;
}

void Candidates::each(const std::function<void(const One&)>& visit) const {
  for (std::size_t place = 0; place < made_.size(); ++place) {
    Forms all;
    if (right_ != nullptr && compute::operations(right_->plan) >= worth_a_run) {
      all = forms(place);
    } else {
      const std::lock_guard lock(mutex_);
      if (!made_[place]) made_[place] = forms(place);
      all = *made_[place];
    }
    for (const One& one : all) visit(one);
  }
}

std::vector<MistakePair> mistakes_by_frequency() {
  std::vector<MistakePair> all;
  for (const Mistake& mistake : mistakes()) all.push_back({&mistake});
  std::stable_sort(all.begin(), all.end(),
                   [](const MistakePair& a, const MistakePair& b) { return a.first->frequency < b.first->frequency; });
  return all;
}

bool Puzzle::concerns(StepId row, std::size_t head) const {
  if (!name_of(row).per_head || !name_of(step).per_head) return true;
  return head < wrong.size() && wrong[head];
}

double cost_of_reading(const Plan& plan, const Precision& precision, const GivenMatrices& given) {
  return compute::operations(plan) * readings_worth * (is_drawn(precision, plan, given) ? draw_count : 1);
}

bool Budget::allows(double cost) {
  if (cost > operations) return ++untried, false;
  operations -= cost;
  return true;
}

std::vector<Diagnosis> diagnoses(const Candidates& candidates, const Puzzle& puzzle, Budget& budget) {
  std::vector<Diagnosis> best;
  const auto try_all = [&](bool backward) {
    candidates.each([&](const Candidates::One& candidate) {
      if (candidate->first > puzzle.step || is_gradient(candidate->first) != backward) return;
      std::optional<Diagnosis> diagnosis = Trial(candidate, puzzle, budget).run();
      if (!diagnosis || (!best.empty() && power_of(*diagnosis) < power_of(best.front()))) return;
      if (!best.empty() && power_of(*diagnosis) > power_of(best.front())) best.clear();
      best.push_back(std::move(*diagnosis));
    });
  };
  if (is_gradient(puzzle.step)) try_all(true);
  // On the way back a mistake of the way there shows only where nothing of that was given.
  const bool any_before = std::any_of(step_names.begin(), step_names.end(),
                                      [&](const StepName& name) { return puzzle.given.heads(name.step) > 0; });
  if (best.empty() && !(is_gradient(puzzle.step) && any_before)) try_all(false);
  const auto likelier = [](const Diagnosis& a, const Diagnosis& b) { return unlikelihood_of(a) < unlikelihood_of(b); };
  std::stable_sort(best.begin(), best.end(), likelier);
  std::vector<Diagnosis> one_each;
  for (Diagnosis& diagnosis : best) {
    const auto same = [&](const Diagnosis& e) {
      return e.candidate->mistake == diagnosis.candidate->mistake && e.candidate->also == diagnosis.candidate->also;
    };
    if (std::none_of(one_each.begin(), one_each.end(), same)) one_each.push_back(std::move(diagnosis));
  }
  return one_each;
}

}  // namespace mha::study
