// Walks a plan on a backend and collects the trace, or measures how long the steps take.
#pragma once

#include "compute/backend.hpp"
#include "compute/device.hpp"

namespace mha::compute {

inline constexpr double operations_worth_threads = 1e7;

struct RunOptions {
  std::vector<bool> keep;  // by ValueId: values that the trace shall hold
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;  // each step's result is rounded to so many decimals before the next step reads it
  Device device = {};           // the CPU, unless said
  int threads = 0;              // 0: one for each core; the results never depend on it, and small problems use one
  std::vector<bool> take = {};  // by ValueId: computed values whose rows go to `taker`, kept or not
  RowTaker* taker = nullptr;
  std::vector<std::shared_ptr<const Tensor>> earlier = {};  // by ValueId: what a cache held, oldest row first
  const Plan* whole = nullptr;  // of which this plan is a part: the CPU takes the kernels of the whole, for the same bits
};

// The values that these steps compute, and with `operands` those that they read as well.
std::vector<bool> values_to_keep(const Plan& plan, const Selection& selection, bool operands);

// Which steps are taken together in blocks of rows. The blocks never depend on what is kept, so neither do the results.
Schedule make_schedule(const Plan& plan, const RunOptions& options);

// On the device that the options name, holding the values that are given.
std::unique_ptr<Backend> make_backend(const Plan& plan, const Schedule& schedule, const RunOptions& options);

// How many workers serve the plan: one for a small problem, since a thread takes longer to start than that to compute, and
// one for a device, which has its own.
int workers_for(const Plan& plan, const RunOptions& options);

// All steps of a group for one part before the next part, the parts shared out among the workers. `seconds`, unless null,
// receives the time of each step, by its place in the plan: steps that are taken together share the time of their group in
// proportion to what the workers spent on each.
void run_group(const Plan& plan, const Schedule::Group& group, Backend& backend, Workers& workers, double* seconds);

// All steps of the plan, on the device that the options name.
Trace run(const Plan& plan, const RunOptions& options);

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

// The milliseconds of each round, of each plan: in a round the plans have their turns one after another.
struct Timed {
  Plan plan;
  RunOptions options;
};
std::vector<std::vector<double>> measure_in_turn(const std::vector<Timed>& plans, int repeat);

// What the options' device reaches with their dtype and threads: GFLOP/s in a product of two large matrices, GB/s
// (read and written) in a copy that no cache holds.
struct Reach {
  double gflops = 0, gbytes_per_s = 0;
};
Reach measure_reach(RunOptions options);

}  // namespace mha::compute
