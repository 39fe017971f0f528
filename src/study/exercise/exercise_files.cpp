// The empty answer and the mistakes as JSON, in the nested form of a trace.
#include "study/exercise/exercise.hpp"

#include <fmt/format.h>

#include "core/gradient.hpp"
#include "io/problem/problem_writer.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

// As many heads as any step has.
Index heads_of(const Written& steps) {
  Index heads = 1;
  for (const StepName& name : row_names)
    if (const Tensor* step = steps[static_cast<std::size_t>(name.step)].get(); step != nullptr && name.per_head)
      heads = std::max(heads, step->shape().heads);
  return heads;
}

// Without X, which is given.
Written from_step(Written steps, StepId first) {
  std::fill_n(steps.begin(), std::max<std::size_t>(1, static_cast<std::size_t>(first)), nullptr);
  return steps;
}

void write_work(io::JsonWriter& json, const Written& steps, const std::function<void(const Tensor&, Index)>& write) {
  io::write_steps(json, {[&](StepId step) { return steps[static_cast<std::size_t>(step)].get(); }, write, heads_of(steps)});
}

// `layer`: of a stack, from 0.
void write_mistake(io::JsonWriter& json, const Outcome& outcome, std::optional<Index> layer) {
  json.begin_object();
  if (layer) json.integer("layer", *layer + 1);
  json.text("id", outcome.mistake->id);
  if (!outcome.detail.empty()) json.text("detail", outcome.detail);
  json.key("what");
  io::write_caption(json, {std::string(outcome.mistake->what.en), std::string(outcome.mistake->what.zh), true});
  json.text("first_wrong", name_of(*outcome.shown_by).id);
  const Written numbers = from_step(outcome.numbers, *outcome.shown_by);
  const auto write = [&](const Tensor& step, Index head) {
    json.matrix(step.matrix(0, head), step.shape().rows, step.shape().cols);
  };
  write_work(json, numbers, write);
  for (const StepName& name : row_names) {
    const Tensor* step = is_gradient(name.step) ? numbers[static_cast<std::size_t>(name.step)].get() : nullptr;
    for (Index head = 0; step != nullptr && head < step->shape().heads; ++head) {
      json.key(fmt::format("{}{}", name.id, name.per_head ? std::to_string(head + 1) : ""));
      write(*step, head);
    }
  }
  json.end();
}

}  // namespace

void write_answer_template(io::Sink& sink, const Problem& problem) {
  const Plan plan = plan_with_gradient(problem);
  Selection without_X;
  without_X.steps[static_cast<std::size_t>(StepId::X)] = false;
  io::JsonWriter json(sink);
  json.leave_blank();
  json.begin_object();
  io::write_computed(json, problem, plan, simulate(plan), without_X, false);
  json.finish();
}

void write_mistakes(io::Sink& sink, const Problem& problem) {
  io::JsonWriter json(sink);
  json.begin_object();
  json.begin_array("mistakes");
  const std::vector<Problem> layers = layered(problem).problems;
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const Outcome& outcome : outcomes(layers[i]))
      if (outcome.shown_by)
        write_mistake(json, outcome, layers.size() > 1 ? std::optional(static_cast<Index>(i)) : std::nullopt);
  json.finish();
}

}  // namespace mha::study
