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

// From here on a number in masked scores may stand for −∞.
inline constexpr double hides_from = -1e6;

// Numbers that stand for −∞ (−1e9, the smallest float): no weight is left to the entry beside the others of its row.
// `row` are the `count` given numbers of which `number` is one.
bool stands_for_minus_infinity(double number, const double* row, Index count);

// Whether all of these scores are −∞.
bool is_keyless(const double* scores, Index count);

// Whether these are weights that may stand in such a row: 0, NaN, equal shares, or what the softmax makes of `masked`, the
// row as the person wrote it, where there are numbers in it (null: it was not given).
bool are_keyless_weights(const double* weights, Index count, const double* masked, double tolerance);

}  // namespace mha::study
