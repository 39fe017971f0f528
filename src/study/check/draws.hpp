// How people round who make no mistake: what it comes to behind softmax and norms, where the worst case of each rounding is
// far more than any of them errs by.
#pragma once

#include "study/check/exactness.hpp"
#include "study/check/fair_forms.hpp"
#include "study/check/precision.hpp"

namespace mha::study {

// The root of the mean square of so few may fall short by a third.
inline constexpr std::size_t draw_count = 16;
inline constexpr double most_by_hand = 2e5;  // operations

// Whether it is taken account of: decimals were rounded, in a problem small enough for a pencil; or float32 was computed
// with, in one that is not large, and nothing of the way to a result was handed in.
bool is_drawn(const Precision& precision, const Plan& plan, const GivenMatrices& given);

// A value that is being rounded, as each of these people has it. The first three round each step's result, half away from
// zero, and go on with what was handed in; so that each may have another factor 1/√d_k, they are three. One rounds nothing.
// Each of the others rounds on grids that are shifted: most of them each entry on another, some all of a matrix alike, so
// that equal numbers stay equal.
class Draws {
 public:
  // `computed`: the value before it is rounded.
  Draws(const Uncertain& computed, ValueId of, bool cut_off) : computed_(computed), of_(of), cut_off_(cut_off) {}

  // An entry that may have been rounded to a multiple of 2·half, which moved it by no more than `most`; or was `given`.
  void round(Index entry, double half, double most, std::optional<double> given = {});

  std::vector<std::shared_ptr<const Tensor>> take() const {
    return numbers_.empty() ? computed_.draws
                            : std::vector<std::shared_ptr<const Tensor>>(numbers_.begin(), numbers_.end());
  }

 private:
  const Uncertain& computed_;
  const ValueId of_;
  const bool cut_off_;
  std::vector<std::shared_ptr<Tensor>> numbers_;  // none while they are the computed ones
};

// The factor of the scores, in whose place people may have taken one of these. `in_radius`: that is known of it, too.
Uncertain drawn_from(const Value& exact, const Factors& factors, bool in_radius);

// Takes the step on each draw of its operands. The result is then known at least as well as six deviations of that.
void take_draws(StepTaker& steps, const Step& step, const std::vector<Uncertain>& operands, const FloatingPoint& arithmetic,
                Uncertain& result);

}  // namespace mha::study
