// Which known mistakes explain a wrong step: each is made on the person's own numbers and compared with what was given.
#pragma once

#include <mutex>

#include "study/check/answer_walk.hpp"
#include "study/check/report.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::study {

// One form of a mistake, ready to be made on any answer.
struct Candidate {
  const Mistake* mistake;
  std::string detail;
  RowPlan plan;
  Rows changed;                   // which rows it computes otherwise
  StepId first;                   // of them
  const Mistake* also = nullptr;  // made together with it
};

// The forms of mistakes that can be made on the problem and change anything, each made when it is tried: a right answer
// needs none. Those of small problems stay for the next answer. May be asked from several threads.
class Candidates {
 public:
  using One = std::shared_ptr<const Candidate>;
  using Forms = std::vector<One>;

  // `right` is the problem's `plan` as answers give it; all must outlive this.
  Candidates(const Problem& problem, const Plan& plan, const RowPlan& right, std::vector<MistakePair> mistakes);
  explicit Candidates(Candidate alone) : made_{Forms{std::make_shared<const Candidate>(std::move(alone))}} {}

  // In the order of the mistakes.
  void each(const std::function<void(const One&)>& visit) const;

 private:
  Forms forms(std::size_t place) const;

  const Problem* problem_ = nullptr;
  const Plan* plan_ = nullptr;
  const RowPlan* right_ = nullptr;
  std::vector<MistakePair> mistakes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<Forms>> made_;  // of each mistake
};

// All mistakes, the most frequent ones first.
std::vector<MistakePair> mistakes_by_frequency();

// A step that does not follow from the person's earlier numbers.
struct Puzzle {
  const GivenMatrices& given;
  const Precision& precision;
  const Reading& right;    // against the formulas, or the fair form of them that the person used
  const Reading& earlier;  // where the numbers behind the mistakes found so far come from
  StepId step;
  std::vector<bool> wrong;  // by head: what is to be explained
  bool begins;              // nothing was given before it, and nothing was wrong

  // Whether this head of this row bears on it: all rows of all heads do.
  bool concerns(StepId row, std::size_t head) const;
};

struct Diagnosis {
  Candidates::One candidate;
  Reading reading;
  bool in_all_heads;     // else only in those that are wrong
  std::size_t reach;     // so many given matrices match, from the wrong step on, before the first that does not
  std::size_t matching;  // of all that are given from there on
  std::size_t given;
  double misfit;       // mean square of difference / tolerance
  bool shows = false;  // of what matches, something at the mistake's own step or behind it
};

// How much may be computed for one answer, in operations: counted, not timed, so that every run says the same.
struct Budget {
  double operations = 1e11;
  int untried = 0;             // forms of mistakes for which nothing was left
  bool spent_closely = false;  // all were tried to the last digit

  bool allows(double cost);
};

double cost_of_reading(const Plan& plan, const Precision& precision, const GivenMatrices& given);

// Those that explain most, one for each mistake: the numbers cannot tell them apart. The likeliest first. Candidates are
// tried in their order.
std::vector<Diagnosis> diagnoses(const Candidates& candidates, const Puzzle& puzzle, Budget& budget);

// What the wrong numbers of this step and head (from 0) have in common where no known mistake fits; nothing where they show
// no pattern. The answer was read against the plan.
std::optional<Sign> sign_of(StepId step, Index head, const GivenMatrices& given, const Reading& reading, const Plan& plan);

// The mistake `dropout` as this person must have made it: some of the wrong heads' weights are 0, and all others 1/(1 − p)
// of what they should be. Nothing where it is not so. `plan` is what the answer was read against.
std::optional<Candidate> dropped_weights(const RowPlan& plan, const Puzzle& puzzle);

// What is −∞ in one of two readings' masked scores and not in the other's, in this head.
std::vector<OtherKeys> other_keys(const Reading& mistaken, const Reading& right, Index head);
// What is so in the masked scores that were given; or where weights that were given leave the hidden keys some.
std::vector<OtherKeys> other_keys(StepId step, const GivenMatrix& given, const Reading& right, Index head);

// "row 2: key 4 should be hidden; rows 1, 3: key 2 should be visible"; rows and keys counted from `base`.
std::string told(const std::vector<OtherKeys>& keys, Language language, Index base, bool items);

}  // namespace mha::study
