// Whether a given matrix is the expected one.
#include "study/check/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/cpu_rows.hpp"

namespace mha::study {
namespace {

constexpr double added_by_masks = -5000;  // where they hide
constexpr double out_of_sight = 36;       // e^−36 changes no bit of a sum of weights

}  // namespace

bool is_same(double given, double expected, double tolerance) {
  if (std::isnan(given) || std::isnan(expected)) return std::isnan(given) && std::isnan(expected);
  if (given == expected) return true;
  // No infinity but the same one is within it. Where anything could come out, nothing is the same.
  return std::isfinite(tolerance) && std::abs(given - expected) <= tolerance;
}

namespace {

// Numbers that are cut off may be a unit of the last place nearer to 0, and no further from it.
Likeness compare_as(bool cut_off, const GivenMatrix& given, const Uncertain& expected, Index head) {
  const double half = given.form.cut_off ? given.form.half_unit() : 0;
  Likeness result;
  result.given = true;
  const Shape &own = given.numbers.shape(), &right = expected.numbers->shape();
  if (head >= right.heads || !own.has_matrices_as(right)) {
    result.same_shape = false;
    result.entries = result.wrong = own.size();
    return result;
  }
  const Index size = own.rows * own.cols;
  for (Index item = 0; item < own.batch; ++item) {
    const double* numbers = given.numbers.matrix(item, 0);
    const double* right_numbers = expected.numbers->matrix(item, head);
    const double* tolerances = expected.radius->matrix(item, head);
    for (Index i = 0; i < size; ++i) {
      if (given.is_blank(item * size + i)) continue;
      ++result.entries;
      if (numbers[i] == right_numbers[i] || (std::isnan(numbers[i]) && std::isnan(right_numbers[i]))) continue;
      const double difference = std::abs(numbers[i] - right_numbers[i]);
      if (!(difference <= result.max_difference)) result.max_difference = difference;
      const double cut = cut_off ? std::copysign(std::min(half, std::abs(right_numbers[i])), right_numbers[i]) : 0;
      if (!is_same(numbers[i], right_numbers[i] - cut, tolerances[i] - half)) ++result.wrong;
      result.squares += difference * difference;
      const double misfit = difference / tolerances[i];
      result.misfit += misfit * misfit;
    }
  }
  return result;
}

}  // namespace

Likeness compare(const GivenMatrix& given, const Uncertain& expected, Index head) {
  const Likeness rounded = compare_as(false, given, expected, head);
  if (!given.form.cut_off || rounded.matches()) return rounded;
  const Likeness cut = compare_as(true, given, expected, head);
  return cut.matches() ? cut : rounded;
}

bool leaves_no_weight(double score, double largest) {
  return score <= largest - out_of_sight;
}

bool is_masked_out(double masked, double score) {
  return masked - score <= added_by_masks;
}

void RowShifts::add(const double* given, const double* expected, const double* tolerance, Index count) {
  std::vector<Index> visible;
  double shift = 0, largest = -std::numeric_limits<double>::infinity(), most = 0;
  for (Index j = 0; j < count; ++j) {
    if (std::isinf(expected[j]) || std::isinf(given[j])) {
      all_fit_ = all_fit_ && given[j] == expected[j];
      continue;
    }
    visible.push_back(j);
    shift += given[j] - expected[j];
    largest = std::max(largest, given[j]);
    most = std::max(most, 2 * tolerance[j]);
  }
  if (visible.empty()) return;
  shift /= static_cast<double>(visible.size());
  // A 0 has no tolerance of its own, but beside a constant it is rounded as large as that.
  const double fits = most + 4 * std::numeric_limits<double>::epsilon() * std::abs(shift);
  for (const Index j : visible) all_fit_ = all_fit_ && std::abs(given[j] - expected[j] - shift) <= fits;
  const bool shifted = std::abs(shift) > most;
  any_ = any_ || shifted;
  agreed_ = agreed_ || (shifted && visible.size() > 1);
  maxima_are_0_ = maxima_are_0_ && std::abs(largest) <= most;
}

bool is_keyless(const double* scores, Index count) {
  return std::all_of(scores, scores + count, [](double score) { return std::isinf(score) && score < 0; });
}

bool are_keyless_weights(const double* weights, Index count, double tolerance) {
  const auto all = [&](const auto& holds) { return std::all_of(weights, weights + count, holds); };
  const double share = 1 / static_cast<double>(count);
  return all([](double a) { return std::isnan(a); }) || all([](double a) { return a == 0; }) ||
         all([&](double a) { return is_same(a, share, tolerance); });
}

bool are_softmax_of(const double* scores, const double* weights, Index count, double tolerance) {
  std::vector<double> softmax(static_cast<std::size_t>(count));
  compute::softmax_row(scores, count, softmax.data());
  return std::equal(softmax.begin(), softmax.end(), weights,
                    [&](double expected, double given) { return is_same(given, expected, tolerance); });
}

}  // namespace mha::study
