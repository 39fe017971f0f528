// How far the entries of a softmax may be off: an entry is largest where its own z is as large as it may be and all others
// are as small.
#include "study/check/softmax_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mha::study {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double power(const Softmax& rule, double z) {
  return rule.power == Softmax::Power::two ? std::exp2(z) : std::exp(z);
}

// What stands in the denominator beside the powers, all of them divided by the power of `shift`.
double beside(const Softmax& rule, double largest, double shift) {
  if (!rule.one_more) return 0;
  return power(rule, (rule.maximum_subtracted ? largest : 0) - shift);
}

std::vector<double> radii_of_powers(const std::vector<Exponent>& slice, const Softmax& rule) {
  double shift = -infinity, least = -infinity;
  for (const Exponent& e : slice) {
    shift = std::max(shift, e.z + e.radius);
    least = std::max(least, e.z - e.radius);
  }
  std::vector<double> radii(slice.size(), 0);
  if (!std::isfinite(shift)) return radii;  // nothing to attend to, or NaN throughout
  double low_sum = beside(rule, least, shift), high_sum = beside(rule, shift, shift), sum = 0, largest = -infinity;
  for (const Exponent& e : slice) {
    low_sum += power(rule, e.z - e.radius - shift);
    high_sum += power(rule, e.z + e.radius - shift);
    sum += power(rule, e.z - shift);
    largest = std::max(largest, e.z);
  }
  sum += beside(rule, largest, shift);
  for (std::size_t j = 0; j < slice.size(); ++j) {
    const double low = power(rule, slice[j].z - slice[j].radius - shift);
    const double high = power(rule, slice[j].z + slice[j].radius - shift);
    const double value = power(rule, slice[j].z - shift) / sum;
    radii[j] = std::max(
        {0.0, high / (std::max(0.0, low_sum - low) + high) - value, value - low / (std::max(0.0, high_sum - high) + low)});
  }
  return radii;
}

// z / Σ z: where the sum may be 0 nothing is known.
std::vector<double> radii_of_quotients(const std::vector<Exponent>& slice) {
  double sum = 0, sum_radius = 0;
  for (const Exponent& e : slice) {
    sum += e.z;
    sum_radius += e.radius;
  }
  const double smallest = std::abs(sum) - sum_radius;
  std::vector<double> radii(slice.size(), infinity);
  for (std::size_t i = 0; smallest > 0 && i < slice.size(); ++i)
    radii[i] = (slice[i].radius + std::abs(slice[i].z / sum) * sum_radius) / smallest;
  return radii;
}

}  // namespace

std::vector<double> softmax_radii(const std::vector<Exponent>& slice, const Softmax& rule) {
  return rule.power == Softmax::Power::none ? radii_of_quotients(slice) : radii_of_powers(slice, rule);
}

}  // namespace mha::study
