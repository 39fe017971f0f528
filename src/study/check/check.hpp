// Checks answers: each step against what follows from the person's own earlier numbers, and what went wrong where it does
// not.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "io/files/roster.hpp"

#include "study/check/grading.hpp"
#include "study/check/layer_check.hpp"

namespace mha::study {

// Of what was handed in the decimals may be cut off, or of what was not as well.
enum class CutOff { nothing, given, all };

// Prepared once for a problem, which must outlive it; checks from several threads at once.
class Checker {
 public:
  explicit Checker(const Problem& problem, const ToleranceOptions& tolerance = {});

  Report check(io::Answer answer) const;
  // What there would be to judge, of an answer in which nothing is.
  Report nothing_given() const;

 private:
  // As it stands; or with its decimals cut off in place of rounded.
  Report judge(io::Answer answer, Budget& budget, CutOff cut_off = CutOff::nothing) const;
  // What was given of a layer, of one before it, and what each was handed.
  struct Past {
    std::span<const GivenMatrices> given;
    std::span<const Handed> received;
  };
  // Where no mistake in the last of these layers explains what is wrong in it: one in a layer before, or one in each of
  // the two, where nothing is given from there on. The report, which was `before`, tells of it; what the layer hands on.
  std::optional<Handed> blame_earlier(const Past& past, const Precision& precision, Budget& budget, const Report& before,
                                      Report& report) const;
  std::shared_ptr<const Tensor> truth(std::size_t layer, StepId step) const;
  void check_backwards(std::vector<GivenMatrices>& given, const Precision& precision, Report& report) const;
  // What a layer's way back adds to the report. What comes back to it is judged as dX of the layer behind.
  void add_backward(std::size_t layer, const Report& found, Report& report) const;

  ToleranceOptions tolerance_;
  // Each layer's problem, with what it reads where no mistake is made; and again for the way back, with a loss.
  std::vector<Problem> problems_, backward_problems_;
  std::deque<LayerChecker> layers_, backward_;
};

// What an answer is held against. Throws Error where its own problem cannot be read.
using CheckerOf = std::function<std::shared_ptr<const Checker>(const io::AnswerSource&)>;

// Reads, checks and grades each, on several threads; one that cannot be read gets a report that says why, and harms no
// other. The reports are in the order of the answers. `progress` is called in this thread, now and then, with how many are
// done.
std::vector<Report> check_all(const CheckerOf& checker_of, const std::vector<io::AnswerSource>& answers,
                              const Grading& grading, int threads, const std::function<void(std::size_t done)>& progress);

}  // namespace mha::study
