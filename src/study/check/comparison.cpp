// Whether a given matrix is the expected one.
#include "study/check/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/cpu_rows.hpp"

namespace mha::study {
namespace {

constexpr double out_of_sight = 800;      // e^−800 is 0 in double precision
constexpr double smallest_half = -65504;  // of the floats that people take for −∞, the only one above hides_from

}  // namespace

bool is_same(double given, double expected, double tolerance) {
  if (std::isnan(given) || std::isnan(expected)) return std::isnan(given) && std::isnan(expected);
  if (given == expected) return true;
  return std::abs(given - expected) <= tolerance;  // no infinity but the same one is within it
}

Likeness compare(const GivenMatrix& given, const Uncertain& expected, Index head) {
  Likeness result;
  result.given = true;
  const Shape &own = given.numbers.shape(), &right = expected.numbers->shape();
  if (head >= right.heads || own.batch != right.batch || own.rows != right.rows || own.cols != right.cols) {
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
      if (!is_same(numbers[i], right_numbers[i], tolerances[i])) ++result.wrong;
      result.squares += difference * difference;
      result.misfit += std::pow(difference / tolerances[i], 2);
    }
  }
  return result;
}

bool stands_for_minus_infinity(double number, const double* row, Index count) {
  if (std::isinf(number)) return number < 0;
  if (!(number <= hides_from) && number != smallest_half) return false;
  const double largest = *std::max_element(row, row + count);
  return largest <= hides_from || largest == smallest_half || number <= largest - out_of_sight;
}

bool is_keyless(const double* scores, Index count) {
  return std::all_of(scores, scores + count, [](double score) { return std::isinf(score) && score < 0; });
}

bool are_keyless_weights(const double* weights, Index count, const double* masked, double tolerance) {
  const auto all = [&](const auto& holds) { return std::all_of(weights, weights + count, holds); };
  const double share = 1 / static_cast<double>(count);
  if (all([](double a) { return std::isnan(a); }) || all([](double a) { return a == 0; })) return true;
  if (all([&](double a) { return is_same(a, share, tolerance); })) return true;
  if (masked == nullptr || is_keyless(masked, count)) return false;
  std::vector<double> softmax(static_cast<std::size_t>(count));
  compute::softmax_row(masked, count, softmax.data());
  return std::equal(softmax.begin(), softmax.end(), weights,
                    [&](double expected, double given) { return is_same(given, expected, tolerance); });
}

}  // namespace mha::study
