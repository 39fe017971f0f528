// How long the steps take: the engine on one problem again and again, its buffers kept.
#pragma once

#include "compute/engine.hpp"

namespace mha::compute {

struct Spread {
  double median = 0, least = 0;
};

struct Measurement {
  int threads = 1;
  Spread total_ms;
  std::vector<Spread> step_ms;  // by the step's place in the plan
};

// Two rounds to warm up, then `repeat` rounds, at least one.
Measurement measure(const Plan& plan, const RunOptions& options, int repeat);

// What the options' device reaches with their dtype and threads: GFLOP/s in a product of two large matrices, GB/s
// (read and written) in a copy that no cache holds.
struct Reach {
  double gflops = 0, gbytes_per_s = 0;
};
Reach measure_reach(RunOptions options);

}  // namespace mha::compute
