// A whole run in one call, and its values by the names of their steps.
#pragma once

#include "folders.hpp"

#include <cmath>
#include <limits>

#include "compute/engine.hpp"
#include "compute/every_backend.hpp"

namespace mha::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct Run {
  explicit Run(const Problem& problem, Dtype dtype = Dtype::f64, std::optional<int> rounding = {})
      : plan(make_plan(problem)), trace(run(plan, {values_to_keep(plan, Selection{}, true), dtype, rounding})) {}

  Run(const Problem& problem, const Arm& arm) : plan(make_plan(problem)) {
    choose_cpu_variant(arm.kernels);
    trace = run(plan, {values_to_keep(plan, Selection{}, true), arm.dtype, {}, arm.device});
    choose_cpu_variant("");
  }

  const Tensor& operator[](StepId step) const { return *trace.value(plan.find(step).value()); }

  Plan plan;
  Trace trace;
};

inline Tensor output_of(const Problem& problem) {
  return Run(problem)[StepId::output];
}
inline Tensor output_of(const Problem& problem, const Arm& arm) {
  return Run(problem, arm)[StepId::output];
}

// The largest |a − b| / max(1, |b|); infinite where one is NaN or the shapes differ, 0 where both are the same infinity.
inline double difference(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return infinity;
  double largest = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (x == y) continue;
    const double d = std::abs(x - y) / std::max(1.0, std::abs(y));
    largest = std::isnan(d) ? infinity : std::max(largest, d);
  }
  return largest;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

}  // namespace mha::test
