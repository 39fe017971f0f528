// The weights of a row of scores without a key.
#include "study/check/keyless_weights.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/cpu_softmax.hpp"
#include "study/check/likeness.hpp"

namespace mha::study {

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
