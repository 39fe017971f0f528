// What answers give of one layer, each step against what follows from the person's own earlier numbers.
#pragma once

#include <map>
#include <mutex>

#include "study/check/examination.hpp"
#include "study/check/fair_forms.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

// Prepared once for a problem of one layer, which must outlive it; checks from several threads at once.
class LayerChecker {
 public:
  // `layer`: its number, where it is one of a stack.
  LayerChecker(const Problem& problem, std::optional<int> layer);

  const Problem& problem() const { return problem_; }
  bool has(StepId step) const { return right_.value(step).has_value(); }
  StepId result() const { return result_of(right_.plan); }
  std::shared_ptr<const Tensor> truth(StepId step) const;  // of all heads; null where there is no such step
  // Computes in one go what will be asked for.
  void prepare_truth(const GivenMatrices& given) const;

  // Whether the layer is large, and all that is given in it is what the formulas give from X on.
  bool is_true(const GivenMatrices& given) const;

  // What there would be to judge, of an answer in which nothing is.
  void list(Report& report) const;

  // Adds to the report; says what the next layer reads. `given` gets as its input what was read here, or on the way back,
  // where the problem has a loss, as its gradient.
  Handed check(GivenMatrices& given, const Precision& precision, const Handed& received, Budget& budget,
               Report& report) const;

  // Whether the work stays right longer where the layer reads what was given last in the one before, as it is, than where
  // it reads what follows from it.
  bool goes_on_from_last(GivenMatrices given, const Precision& precision, const Handed& received) const;

  // Whether all that is given follows where the layer reads this, as far as the budget allows it to be asked.
  bool follows_from(const Uncertain& input, GivenMatrices given, const Precision& precision, Budget& budget) const;

 private:
  // What the answer was read against: the formulas, or the fair form of them that the person used.
  struct Read {
    Reading reading;
    const RowPlan* plan;
    const std::vector<Saying>* remarks = nullptr;
  };
  struct FairPlan {
    RowPlan plan;
    std::vector<Saying> remarks;
    StepId rejoins;
    std::map<StepId, bool> says_the_same = {};  // as the formulas, where nothing is given before this step
  };

  void compute_truth(std::vector<StepId> steps) const;
  // The fair forms with these factors, one for each head, or with none.
  std::vector<FairPlan>& fair_plans(const Factors& factors = {}) const;
  bool says_the_same(FairPlan& fair, StepId step) const;
  Read read(const GivenMatrices& given, const Precision& precision, bool all_true = false) const;
  Read read_best(GivenMatrices& given, const Precision& precision, const Handed& received) const;
  bool is_large() const;
  Handed judge(const GivenMatrices& given, const Precision& precision, const Read& read, Budget& budget,
               Report& report) const;
  std::optional<Handed> judge_closely(GivenMatrices& given, const Precision& precision, const Handed& received,
                                      Budget& budget, Report& report) const;

  const Problem& problem_;
  std::optional<int> layer_;
  const Plan plan_;
  const RowPlan right_;  // the same as answers give it
  const Candidates candidates_, pairs_;
  mutable std::mutex mutex_;
  mutable std::map<StepId, std::shared_ptr<const Tensor>> truth_;  // of the steps that were asked for
  mutable std::map<Factors, std::vector<FairPlan>> fair_;          // by the factors, none of those with the scale as it is
};

}  // namespace mha::study
