// Walks the table of step names in the order of the contract and writes each matrix straight from the trace.
#include "io/problem/trace_writer.hpp"

#include <algorithm>

#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

void write_config(const ProblemPen& pen) {
  JsonWriter& json = pen.json;
  const Problem& problem = pen.problem;
  json.key("config");
  json.begin_object();
  json.integer("batch", problem.batched ? std::optional(problem.batch()) : std::nullopt);
  json.integer("tokens", problem.queries());
  json.integer("keys", problem.keys());
  json.integer("d_model", problem.d_model());
  json.integer("d_kv", problem.d_kv());
  json.integer("heads", problem.heads);
  json.integer("kv_heads", problem.kv_heads);
  json.integer("d_k", problem.d_k());
  json.integer("d_v", problem.d_v());
  json.integer("d_out", problem.d_out());
  for (const ProblemKey& row : keys_of_problem())
    if (row.part == Part::rule && row.write != write_masks) row.write(pen);
  write_masks(pen);
  write_labels(json, "token_labels", problem.tokens);
  write_labels(json, "key_labels", problem.tokens_kv);
  json.end();
}

void write_parameters(const ProblemPen& pen) {
  pen.json.key("parameters");
  pen.json.begin_object();
  write_X_kv(pen);
  write_weights(pen);
  pen.json.end();
}

}  // namespace

void write_steps(JsonWriter& json, const StepMatrices& steps) {
  const auto any = [&](auto belongs) {
    return std::any_of(step_names.begin(), step_names.end(),
                       [&](const StepName& name) { return belongs(name) && steps.of(name.step) != nullptr; });
  };
  const auto write = [&](Index head, auto belongs) {
    for (const StepName& name : step_names) {
      const Tensor* const matrices = belongs(name) ? steps.of(name.step) : nullptr;
      if (matrices == nullptr) continue;
      json.key(is_packed(name.step) ? name.symbol : name.id);  // "packed.Q" stands as "Q" in the object "packed"
      steps.write(*matrices, broadcast(head, matrices->shape().heads, steps.heads));
    }
  };
  const auto packed = [](const StepName& name) { return is_packed(name.step); };
  const auto of_head = [](const StepName& name) { return name.per_head; };
  write(0, [](const StepName& name) { return name.step == StepId::X; });
  if (any(packed)) {
    json.key("packed");
    json.begin_object();
    write(0, packed);
    json.end();
  }
  if (any(of_head)) {
    json.key("heads");
    json.begin_array();
    for (Index head = 0; head < steps.heads; ++head) {
      if (!steps.selection.has_head(head)) continue;
      json.begin_object();
      json.integer("head", head + 1);
      if (steps.kv_heads) json.integer("kv_head", broadcast(head, *steps.kv_heads, steps.heads) + 1);
      write(head, of_head);
      json.end();
    }
    json.end();
  }
  write(0, [](const StepName& name) { return name.step > StepId::head_output; });
}

void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights) {
  JsonWriter json(sink);
  const ProblemPen pen{json, problem, with_weights, true};
  json.begin_object();
  json.text("format", "mha-trace");
  json.integer("version", 1);
  write_title(pen);
  json.text("device", trace.device);
  json.text("dtype", dtype_name(trace.dtype));
  json.integer("rounding", trace.rounding);
  write_config(pen);
  if (with_weights) write_parameters(pen);
  const auto of = [&](StepId step) -> const Tensor* {
    const std::optional<ValueId> value = selection.has(step) ? plan.find(step) : std::nullopt;
    return value ? trace.value(*value) : nullptr;
  };
  // One matrix, or with a batch a list of them.
  const auto write = [&](const Tensor& tensor, Index head) {
    const Shape& shape = tensor.shape();
    if (problem.batched) json.begin_array();
    for (Index item = 0; item < shape.batch; ++item)
      json.matrix(tensor.matrix(item, head), shape.rows, shape.cols, trace.dtype);
    if (problem.batched) json.end();
  };
  write_steps(json,
              {of, write, problem.heads, problem.grouped ? std::optional(problem.kv_heads) : std::nullopt, selection});
  json.end();
  json.finish();
}

}  // namespace mha::io
