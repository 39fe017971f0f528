// Whether a given matrix is the expected one, entry by entry, and what else may stand in its place.
#pragma once

#include "study/check/given.hpp"

namespace mha::study {

// How a given matrix of one step and head compares with what is expected there.
struct Likeness {
  bool given = false;
  bool same_shape = true;
  Index entries = 0;          // that were filled in
  Index wrong = 0;            // of them
  double max_difference = 0;  // NaN where the one is NaN and the other is not; infinite likewise
  double squares = 0;         // sum over the entries of difference²
  double misfit = 0;          // the same of difference / tolerance

  bool matches() const { return same_shape && wrong == 0; }
};

// Both NaN, the same infinity, or no further apart than the tolerance.
bool is_same(double given, double expected, double tolerance);

// `expected` and its radius, which is the tolerance, hold the matrix of every item and head.
Likeness compare(const GivenMatrix& given, const Uncertain& expected, Index head);

// Whether a mask makes this score −∞ or puts a number in its place (−1e9, −65504).
bool is_masked_out(double masked, double score);

// Whether a score leaves no weight to its key beside one with the score `largest`.
bool leaves_no_weight(double score, double largest);

// Whether constants were added to rows of masked scores: none fits where a row differs in another way. One number alone
// tells nothing, unless the largest of every row is 0 then.
class RowShifts {
 public:
  void add(const double* given, const double* expected, const double* tolerance, Index count);
  bool found() const { return all_fit_ && (agreed_ || (any_ && maxima_are_0_)); }

 private:
  bool all_fit_ = true, agreed_ = false, any_ = false, maxima_are_0_ = true;
};

// Whether all of these scores are −∞.
bool is_keyless(const double* scores, Index count);

// Whether these are weights that may stand in such a row whatever its numbers are: 0, NaN or equal shares.
bool are_keyless_weights(const double* weights, Index count, double tolerance);

// Whether the softmax makes these weights of the scores.
bool are_softmax_of(const double* scores, const double* weights, Index count, double tolerance);

}  // namespace mha::study
