// Walks a plan on a backend: which steps go together, how long values live, and what the trace keeps.
#include "compute/engine.hpp"

#include <algorithm>

#include "core/rounding.hpp"

namespace mha {
namespace {

constexpr Index block_rows = 64;  // a block of scores with 2048 keys is then 1 MB: it stays in the cache

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id);
}

// Step `next` can follow `step` block by block: it reads these rows of the result, and nothing else of it.
bool follows_by_rows(const Step& step, const Step& next) {
  if (!is_row_wise(step) || !is_row_wise(next) || next.in.front() != step.out) return false;
  return std::count(next.in.begin(), next.in.end(), step.out) == 1;
}

std::vector<Schedule::Group> make_groups(const Plan& plan, bool by_blocks) {
  std::vector<Schedule::Group> groups;
  for (std::size_t i = 0; i < plan.steps.size();) {
    std::size_t end = i + 1;
    while (by_blocks && end < plan.steps.size() && follows_by_rows(plan.steps[end - 1], plan.steps[end])) ++end;
    groups.push_back({i, end, end - i > 1 ? block_rows : 0});
    i = end;
  }
  return groups;
}

// A value that stands between two steps of one group, is read nowhere else and is not kept.
void mark_only_blocks(const Plan& plan, Schedule& schedule) {
  for (std::size_t g = 0; g < schedule.groups.size(); ++g)
    for (std::size_t i = schedule.groups[g].first_step; i + 1 < schedule.groups[g].last_step; ++i) {
      const ValueId out = plan.steps[i].out;
      schedule.only_blocks[at(out)] = !schedule.kept[at(out)] && schedule.last_use[at(out)] == g;
    }
}

// Steps one after the other for one block of rows before the next block, in each matrix.
void run_by_blocks(const Plan& plan, const Schedule::Group& group, Backend& backend) {
  const Shape& shape = plan.value(plan.steps[group.first_step].out).shape;
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      for (Index row = 0; row < shape.rows; row += group.block_rows) {
        const Part part{{item, item + 1}, {head, head + 1}, {row, std::min(row + group.block_rows, shape.rows)}};
        for (std::size_t i = group.first_step; i < group.last_step; ++i) backend.run(plan.steps[i], part);
      }
}

void run_whole(const Plan& plan, const Step& step, Backend& backend) {
  const Shape& shape = plan.value(step.out).shape;
  backend.run(step, {{0, shape.batch}, {0, shape.heads}, {0, shape.rows}});
}

void round_result(ValueId id, int decimals, Backend& backend) {
  auto rounded = std::make_shared<Tensor>(*backend.get(id));
  for (Index i = 0; i < rounded->size(); ++i) rounded->data()[i] = round_by_hand(rounded->data()[i], decimals);
  backend.set(id, std::move(rounded));
}

bool takes_whole_values(const RunOptions& options) {
  return options.rounding || options.after;
}

void after_step(const Plan& plan, const Step& step, const RunOptions& options, Backend& backend) {
  const bool written_down = plan.value(step.out).step.has_value();
  if (options.rounding && written_down) round_result(step.out, *options.rounding, backend);
  if (options.after) options.after(step, backend);
}

void hand_over(ValueId id, Backend& backend, RowTaker& taker) {
  const std::shared_ptr<const Tensor> value = backend.get(id);
  const Shape& shape = value->shape();
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      taker.take_rows(id, item, head, 0, shape.rows, value->matrix(item, head));
}

}  // namespace

std::vector<bool> values_to_keep(const Plan& plan, const Selection& selection, bool operands) {
  std::vector<bool> keep(plan.values.size(), false);
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].step && selection.has(*plan.values[id].step)) keep[id] = true;
  if (operands)
    for (const Step& step : plan.steps)
      if (selection.has(step.id))
        for (const ValueId id : step.in) keep[at(id)] = true;
  return keep;
}

Schedule make_schedule(const Plan& plan, const RunOptions& options) {
  Schedule schedule;
  schedule.groups = make_groups(plan, !takes_whole_values(options));
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
  const std::unique_ptr<Backend> backend = make_cpu_backend(plan, schedule, options.dtype);
  Trace trace;
  trace.dtype = options.dtype;
  trace.rounding = options.rounding;
  trace.values.resize(plan.values.size());
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    if (plan.values[id].constant) backend->set(static_cast<ValueId>(id), plan.values[id].constant);

  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const Schedule::Group& group = schedule.groups[g];
    if (group.block_rows > 0)
      run_by_blocks(plan, group, *backend);
    else
      run_whole(plan, plan.steps[group.first_step], *backend);
    if (takes_whole_values(options)) after_step(plan, plan.steps[group.first_step], options, *backend);
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

}  // namespace mha
