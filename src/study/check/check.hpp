// Checks answers: each step against what follows from the person's own earlier numbers, and what went wrong where it does
// not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "io/files/answer_files.hpp"

#include "study/check/diagnose.hpp"
#include "study/check/fair_forms.hpp"
#include "study/check/grading.hpp"
#include "study/check/report.hpp"

namespace mha::study {

// Prepared once for a problem, which must outlive it; checks from several threads at once.
class Checker {
 public:
  explicit Checker(const Problem& problem, const ToleranceOptions& tolerance = {});

  Report check(const io::Answer& answer) const;
  // What there would be to judge, of an answer in which nothing is.
  Report nothing_given() const;

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
  };

  static std::vector<FairPlan> plans_of(std::vector<FairForm> forms);
  // The fair forms with these factors, one for each head.
  const std::vector<FairPlan>& with_factors(const Factors& factors) const;
  Read read(const GivenMatrices& given, const Precision& precision) const;
  bool is_large() const;
  void judge(const GivenMatrices& given, const Precision& precision, const Read& read, Budget& budget,
             Report& report) const;
  bool judge_closely(const GivenMatrices& given, const Precision& precision, Budget& budget, Report& report) const;

  const Problem& problem_;
  ToleranceOptions tolerance_;
  RowPlan right_;
  std::vector<FairPlan> fair_;
  std::vector<Candidate> candidates_, pairs_;
  Reading key_;  // the true numbers: nothing is given
  mutable std::mutex mutex_;
  mutable std::map<Factors, std::vector<FairPlan>> with_factors_;
};

// What an answer is held against. Throws Error where its own problem cannot be read.
using CheckerOf = std::function<std::shared_ptr<const Checker>(const io::AnswerSource&)>;

// Reads, checks and grades each, on several threads; one that cannot be read gets a report that says why, and harms no
// other. The reports are in the order of the answers. `progress` is called in this thread, now and then, with how many are
// done.
std::vector<Report> check_all(const CheckerOf& checker_of, const std::vector<io::AnswerSource>& answers,
                              const Grading& grading, int threads, const std::function<void(std::size_t done)>& progress);

}  // namespace mha::study
