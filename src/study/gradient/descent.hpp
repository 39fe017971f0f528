// What gradients are for, and how they are proved: steps of gradient descent, and central differences.
#pragma once

#include "compute/engine.hpp"
#include "io/files/sink.hpp"
#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"

namespace mha::study {

// The loss before each step and after the last one, and the problem as it is then.
struct Descent {
  std::vector<double> losses;
  Problem problem;
};

// Each parameter less `rate` times its gradient, so many times. The problem has a loss that is a number. Of the options,
// what says how to compute.
Descent descend(const Problem& problem, double rate, int times, const compute::RunOptions& options);

// A line for each of the losses.
void add_descent(const Descent& descent, double rate, int decimals, show::PageBuilder& page);

// One gradient held against (L(x + h) − L(x − h)) / 2h, at the entry where they are farthest apart.
struct HeldGradient {
  ValueId value;  // the gradient
  Entry at;
  double gradient = 0, difference = 0, relative = 0;  // |gradient − difference| / max(1, |difference|, |L|)
};
inline constexpr double difference_bound = 1e-6;

// Every gradient of the plan (core/gradient.hpp), in the order in which they are computed, from the engine's own losses on
// the CPU in float64. Throws Error where that would take hours.
std::vector<HeldGradient> against_differences(const Problem& problem, const Plan& plan, const Trace& trace);
bool all_hold(const std::vector<HeldGradient>& gradients);
show::Document describe(const std::vector<HeldGradient>& gradients, const show::Scenes& layers);
// {"format": "mha-differences", …}: what the page says, numbers in full.
void write_differences(io::Sink& sink, const std::vector<HeldGradient>& gradients, const show::Scenes& layers);

}  // namespace mha::study
