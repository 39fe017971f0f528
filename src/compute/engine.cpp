// Walks a plan on a backend: which steps go together, how long values live, and what the trace keeps.
#include "compute/engine.hpp"

#include <chrono>
#include <numeric>

#include "compute/backend.hpp"
#include "compute/cost.hpp"
#include "compute/floats.hpp"
#include "core/op_rules.hpp"
#include "core/rounding.hpp"

namespace mha::compute {
namespace {

// Rows that are taken together: enough to read a matrix of weights seldom, few enough that a block of scores of the width
// `cols` stays in the cache. What a row gives does not depend on the rows beside it.
Index rows_together(Index rows, Index cols) {
  const Index most = std::clamp<Index>(65536 / std::max<Index>(cols, 1), 24, 96);
  const Index blocks = (rows + most - 1) / most;
  return (rows + blocks - 1) / blocks;
}

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id);
}

// Heads that are worth a worker each. Fewer are taken block by block by all workers, and what sums over rows waits for all
// of its operands.
constexpr Index enough_heads = 4;

// Whether the step can follow the group's steps block by block: it reads what the last of them gave, has as many matrices
// of as many rows, and needs of what they compute these rows and nothing else. Or it sums over those rows.
bool follows_by_rows(const Plan& plan, const Schedule::Group& group, const std::vector<bool>& grows, const Step& next) {
  const auto made = plan.steps.begin() + static_cast<std::ptrdiff_t>(group.first_step);
  const auto made_end = plan.steps.begin() + static_cast<std::ptrdiff_t>(group.last_step);
  const auto is_made = [&](ValueId id) {
    return std::any_of(made, made_end, [&](const Step& step) { return step.out == id; });
  };
  const auto is_read = [&](ValueId id) {
    return std::any_of(made, made_end, [&](const Step& step) { return step.in.front() == id; });
  };
  const Shape& of = plan.value(made->out).shape;
  const auto has_these_rows = [&](ValueId id) {
    const Shape& shape = plan.value(id).shape;
    return shape.batch == of.batch && shape.heads == of.heads && shape.rows == of.rows;
  };
  if (!is_row_wise(plan, *made)) return false;
  if (std::any_of(next.in.begin(), next.in.end(), [&](ValueId id) { return is_made(id) && grows[at(id)]; })) return false;
  if (sums_over_rows(plan, next))
    return of.heads >= enough_heads && has_these_rows(next.in[0]) && has_these_rows(next.in[1]) &&
           std::any_of(next.in.begin(), next.in.end(), [&](ValueId id) { return is_made(id) || is_read(id); });
  for (std::size_t i = 0; i < next.in.size(); ++i)
    if (is_made(next.in[i]) && !is_row_wise(plan, next, i)) return false;
  auto last = made_end - 1;
  while (grows[at(last->out)]) --last;
  return std::count(next.in.begin(), next.in.end(), last->out) > 0 && is_row_wise(plan, next) && has_these_rows(next.out);
}

void make_groups(const Plan& plan, bool by_blocks, Schedule& schedule) {
  schedule.grows.resize(plan.values.size(), false);
  for (std::size_t i = 0; i < plan.steps.size();) {
    Schedule::Group group{i, i + 1};
    while (by_blocks && group.last_step < plan.steps.size()) {
      const Step& next = plan.steps[group.last_step];
      if (!follows_by_rows(plan, group, schedule.grows, next)) break;
      schedule.grows[at(next.out)] = sums_over_rows(plan, next);
      group.head_by_head = group.head_by_head || schedule.grows[at(next.out)];
      ++group.last_step;
    }
    const Shape& shape = plan.value(plan.steps[i].out).shape;
    if (group.last_step - i > 1) group.block_rows = rows_together(shape.rows, shape.cols);
    i = group.last_step;
    schedule.groups.push_back(group);
  }
}

// A value that stands between two steps of one group, is read nowhere else and is not kept.
void mark_only_blocks(const Plan& plan, Schedule& schedule) {
  for (std::size_t g = 0; g < schedule.groups.size(); ++g)
    for (std::size_t i = schedule.groups[g].first_step; i + 1 < schedule.groups[g].last_step; ++i) {
      const ValueId out = plan.steps[i].out;
      schedule.only_blocks[at(out)] =
          !schedule.kept[at(out)] && !schedule.grows[at(out)] && schedule.last_use[at(out)] == g;
    }
}

// Blocks of rows: of one head where steps follow each other, so that all their results stay in the cache; of all heads
// where one step stands alone, so that a block of its operand serves them all; whole matrices where a softmax sums over
// more than a row, so that no sum is made twice.
std::vector<Part> parts_of(const Plan& plan, const Schedule::Group& group) {
  const Step& first = plan.steps[group.first_step];
  const Shape& shape = plan.value(first.out).shape;
  if (group.undivided) return {{{0, shape.batch}, {0, shape.heads}, {0, shape.rows}}};
  const bool blocks = group.block_rows > 0;
  const bool whole = group.head_by_head || (info_of(first.op).shares != Shares::none && !is_row_wise(plan, first));
  const Index rows = whole ? shape.rows : blocks ? group.block_rows : rows_together(shape.rows, 1);
  const Index heads = blocks || whole ? 1 : shape.heads;
  std::vector<Part> parts;
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; head += heads)
      for (Index row = 0; row < shape.rows; row += rows)
        parts.push_back({{item, item + 1}, {head, head + heads}, {row, std::min(row + rows, shape.rows)}});
  return parts;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What a person writes down; the parts of a gradient are taken as they come.
bool is_rounded(const Value& value) {
  return value.step || value.gradient == Value::Gradient::whole || value.gradient == Value::Gradient::row_sums;
}

void round_result(ValueId id, int decimals, Backend& backend) {
  auto rounded = std::make_shared<Tensor>(*backend.get(id));
  for (Index i = 0; i < rounded->size(); ++i) rounded->data()[i] = round_by_hand(rounded->data()[i], decimals);
  backend.set(id, std::move(rounded));
}

void hand_over(ValueId id, Backend& backend, RowTaker& taker) {
  const std::shared_ptr<const Tensor> value = backend.get(id);
  const Shape& shape = value->shape();
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      taker.take_rows(id, item, head, 0, shape.rows, value->matrix(item, head));
}

// The last ones of its earlier rows, and behind them those that were just computed.
std::shared_ptr<const Tensor> filled_cache(const Shape& shape, const Tensor* earlier, const Tensor& newest) {
  const auto all = std::make_shared<Tensor>(shape);
  const Index old = shape.rows - newest.shape().rows;
  for_each_entry(shape, [&](const Entry& at) {
    const Tensor& from = at.row < old ? *earlier : newest;
    const Index row = at.row - old + (at.row < old ? earlier->shape().rows : 0);
    all->at(at) = from.at(at.item, at.head, row, at.column);
  });
  return all;
}

// The steps' times within the blocks, by worker, as shares of the time that the whole group took.
void share_out(double whole, const std::vector<std::vector<double>>& by_worker, double* seconds) {
  std::vector<double> sums(by_worker.front().size());
  for (const std::vector<double>& worker : by_worker)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += worker[i];
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  const double equal = 1 / static_cast<double>(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) seconds[i] = whole * (all > 0 ? sums[i] / all : equal);
}

}  // namespace

std::unique_ptr<Backend> make_backend(const Plan& plan, const Schedule& schedule, const RunOptions& options) {
  if (options.dtype == Dtype::f32)
    for (const Step& step : plan.steps) {
      if (step.op == Op::softcap) expect_float(step.cap, "softcap");
      if (step.op == Op::norm && step.norm.eps != 0) expect_float(step.norm.eps, "eps");
    }
  std::unique_ptr<Backend> backend = options.device.is_cpu()
                                         ? make_cpu_backend(plan, schedule, options.dtype, options.whole)
                                         : make_opencl_backend(plan, options.device, options.dtype);
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].constant) backend->set(static_cast<ValueId>(id), plan.values[id].constant);
  return backend;
}

int workers_for(const Plan& plan, const RunOptions& options) {
  return !options.device.is_cpu() || operations(plan) < operations_worth_threads ? 1 : thread_count(options.threads);
}

void run_group(const Plan& plan, const Schedule::Group& group, Backend& backend, Workers& workers, double* seconds) {
  const Clock::time_point start = Clock::now();
  const std::size_t steps = group.last_step - group.first_step;
  std::vector<std::vector<double>> times(static_cast<std::size_t>(workers.count()), std::vector<double>(steps));
  bool left_to_run = false;
  for (std::size_t i = 0; i < steps; ++i)
    if (backend.prepare(plan.steps[group.first_step + i], workers)) left_to_run = true;
  const std::vector<Part> parts = left_to_run ? parts_of(plan, group) : std::vector<Part>{};
  workers.each(static_cast<Index>(parts.size()), [&](Index piece, int worker) {
    Part part = parts[static_cast<std::size_t>(piece)];
    part.worker = worker;
    const Range all = part.rows;
    const Index together = group.block_rows > 0 ? group.block_rows : all.count();
    do {  // once even where there is no row
      part.rows.last = std::min(part.rows.first + together, all.last);
      for (std::size_t i = 0; i < steps; ++i) {
        const Clock::time_point begin = Clock::now();
        backend.run(plan.steps[group.first_step + i], part);
        if (seconds != nullptr) backend.wait();
        times[static_cast<std::size_t>(worker)][i] += seconds_since(begin);
      }
      part.rows.first = part.rows.last;
    } while (part.rows.first < all.last);
  });
  if (seconds != nullptr) share_out(seconds_since(start), times, seconds + group.first_step);
}

std::vector<bool> values_to_keep(const Plan& plan, const Selection& selection, bool operands) {
  std::vector<bool> keep(plan.values.size(), false);
  for (std::size_t id = 0; id < plan.values.size(); ++id) keep[id] = selection.has(plan, plan.values[id]);
  if (operands)
    for (const Step& step : plan.steps)
      if (plan.is_backward(step) ? keep[at(step.out)] : selection.has(step.id, step.layer))
        for (const ValueId id : step.in) keep[at(id)] = true;
  return keep;
}

Schedule make_schedule(const Plan& plan, const RunOptions& options) {
  Schedule schedule;
  make_groups(plan, options.device.is_cpu() && !options.rounding, schedule);
  for (Schedule::Group& group : schedule.groups) group.undivided = !options.device.is_cpu();
  schedule.kept = options.keep;
  schedule.taken = options.take;
  schedule.taker = options.taker;
  schedule.only_blocks.resize(plan.values.size(), false);
  schedule.last_use.resize(plan.values.size(), 0);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g)
    for (std::size_t i = schedule.groups[g].first_step; i < schedule.groups[g].last_step; ++i) {
      for (const ValueId id : plan.steps[i].in) schedule.last_use[at(id)] = g;
      schedule.last_use[at(plan.steps[i].out)] = g;
    }
  mark_only_blocks(plan, schedule);
  return schedule;
}

Trace run(const Plan& plan, const RunOptions& options) {
  const Schedule schedule = make_schedule(plan, options);
  Workers workers(workers_for(plan, options));
  const std::unique_ptr<Backend> backend = make_backend(plan, schedule, options);
  Trace trace;
  trace.device = options.device.description;
  trace.dtype = options.dtype;
  trace.rounding = options.rounding;
  trace.values.resize(plan.values.size());
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const Schedule::Group& group = schedule.groups[g];
    run_group(plan, group, *backend, workers, nullptr);
    const ValueId result = plan.steps[group.first_step].out;
    if (options.rounding && is_rounded(plan.value(result))) round_result(result, *options.rounding, *backend);
    for (std::size_t id = 0; id < plan.values.size(); ++id)
      if (const Value& cache = plan.values[id]; cache.newest >= 0 && schedule.last_use[at(cache.newest)] == g)
        backend->set(static_cast<ValueId>(id),
                     filled_cache(cache.shape, options.earlier[id].get(), *backend->get(cache.newest)));
    for (std::size_t id = 0; id < plan.values.size(); ++id) {
      if (schedule.last_use[id] != g) continue;
      if (schedule.is_taken(static_cast<ValueId>(id)) && !schedule.only_blocks[id])
        hand_over(static_cast<ValueId>(id), *backend, *schedule.taker);
      if (schedule.kept[id]) trace.values[id] = backend->get(static_cast<ValueId>(id));
      backend->drop(static_cast<ValueId>(id));
    }
  }
  return trace;
}

}  // namespace mha::compute
