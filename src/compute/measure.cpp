// Times the engine, and beside it a plain product and a plain copy.
#include "compute/engine.hpp"

#include <chrono>
#include <cstring>
#include <list>

#include "compute/cost.hpp"
#include "core/numbers.hpp"

namespace mha::compute {
namespace {

constexpr int warm_ups = 2;
constexpr int rounds_of_reach = 7;
constexpr Index product_size = 1536;
constexpr Index copied_mb = 128;
constexpr Index copied_size = 4096;  // on a device: a square matrix

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Spread spread_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return {numbers[numbers.size() / 2], numbers.front()};
}

// One step on square matrices, as a plan.
Plan plain_step(Op op, int operands, Index size) {
  Plan plan;
  Step step{op, StepId::output, {}, operands};
  for (int operand = 0; operand < operands; ++operand) {
    step.in.push_back(operand);
    auto numbers = std::make_shared<Tensor>(Shape{1, 1, size, size});
    for (Index i = 0; i < numbers->size(); ++i) numbers->data()[i] = static_cast<double>(i % 17) / 16 - 0.5;
    Value value;
    value.shape = numbers->shape();
    value.constant = std::move(numbers);
    plan.values.push_back(std::move(value));
  }
  Value result;
  result.shape = {1, 1, size, size};
  plan.values.push_back(std::move(result));
  plan.steps.push_back(std::move(step));
  return plan;
}

// A plan made ready once, to be computed over and over.
struct Rounds {
  Rounds(const Plan& of, const RunOptions& options)
      : plan(of),
        schedule(make_schedule(of, options)),
        workers(workers_for(of, options)),
        backend(make_backend(of, schedule, options)),
        seconds(of.steps.size()) {}

  double milliseconds() {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    for (const Schedule::Group& group : schedule.groups) run_group(plan, group, *backend, workers, seconds.data());
    return milliseconds_since(start);
  }

  const Plan& plan;
  const Schedule schedule;
  Workers workers;
  const std::unique_ptr<Backend> backend;
  std::vector<double> seconds;  // of each step
};

double copied_gbytes_per_s(Workers& workers) {
  constexpr Index piece_bytes = Index(1) << 20;
  const auto make = [] {
    const std::size_t bytes = static_cast<std::size_t>(copied_mb * piece_bytes);
    std::shared_ptr<char> block(static_cast<char*>(allocate_block(bytes)), &std::free);
    std::memset(block.get(), 1, bytes);
    return block;
  };
  const std::shared_ptr<char> from = make(), to = make();
  std::vector<double> times;
  for (int round = 0; round < rounds_of_reach; ++round) {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    workers.each(copied_mb, [&](Index piece, int) {
      std::memcpy(to.get() + piece * piece_bytes, from.get() + piece * piece_bytes, piece_bytes);
    });
    times.push_back(milliseconds_since(start));
  }
  return 2e-6 * static_cast<double>(copied_mb * piece_bytes) / spread_of(times).least;
}

}  // namespace

Measurement measure(const Plan& plan, const RunOptions& options, int repeat) {
  Rounds rounds(plan, options);
  std::vector<double> totals;
  std::vector<std::vector<double>> steps(plan.steps.size());
  for (int round = -warm_ups; round < std::max(repeat, 1); ++round) {
    const double total = rounds.milliseconds();
    if (round < 0) continue;
    totals.push_back(total);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(rounds.seconds[i] * 1e3);
  }
  Measurement result{rounds.workers.count(), spread_of(totals), {}};
  for (const std::vector<double>& times : steps) result.step_ms.push_back(spread_of(times));
  return result;
}

std::vector<std::vector<double>> measure_in_turn(const std::vector<Timed>& plans, int repeat) {
  std::list<Rounds> all;
  for (const Timed& timed : plans) all.emplace_back(timed.plan, timed.options);
  std::vector<std::vector<double>> times;
  for (int round = -warm_ups; round < std::max(repeat, 1); ++round) {
    std::vector<double>& own = times.emplace_back();
    for (Rounds& one : all) own.push_back(one.milliseconds());
  }
  times.erase(times.begin(), times.begin() + warm_ups);
  return times;
}

Reach measure_reach(RunOptions options) {
  const auto least_ms = [&](const Plan& plan) {
    options.keep.assign(plan.values.size(), true);
    return measure(plan, options, rounds_of_reach).total_ms.least;
  };
  const Plan product = plain_step(Op::product, 2, product_size);
  Reach reach;
  reach.gflops = operations(product) / least_ms(product) * 1e-6;
  if (options.device.is_cpu()) {
    Workers workers(thread_count(options.threads));
    reach.gbytes_per_s = copied_gbytes_per_s(workers);
  } else {
    const double bytes = 2.0 * copied_size * copied_size * (options.dtype == Dtype::f32 ? 4 : 8);
    reach.gbytes_per_s = bytes / least_ms(plain_step(Op::copy, 1, copied_size)) * 1e-6;
  }
  return reach;
}

}  // namespace mha::compute
