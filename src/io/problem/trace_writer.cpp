// Walks the table of step names in the order of the contract and writes each matrix straight from the trace.
#include "io/problem/problem_writer.hpp"

#include "core/gradient.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

// Sizes and rules of one layer.
void write_sizes(const ProblemPen& pen) {
  JsonWriter& json = pen.json;
  const Problem& problem = pen.problem;
  json.integer("heads", problem.heads);
  json.integer("kv_heads", problem.kv_heads);
  json.integer("d_k", problem.d_k());
  json.integer("d_v", problem.d_v());
  json.integer("d_out", problem.d_out());
  for (const ProblemKey& row : keys_of_problem())
    if (row.part == Part::rule && row.write != write_masks) row.write(pen);
  write_masks(pen);
}

void write_config(const ProblemPen& pen) {
  JsonWriter& json = pen.json;
  const Problem& problem = pen.problem;
  const bool stack = !problem.layers.empty();
  json.begin_object("config");
  json.integer("batch", problem.batched ? std::optional(problem.batch()) : std::nullopt);
  json.integer("tokens", problem.queries());
  if (!stack) json.integer("keys", problem.keys());
  json.integer("d_model", problem.d_model());
  if (!stack) json.integer("d_kv", problem.d_kv());
  if (!stack) write_sizes(pen);
  if (stack) json.key("layers"), json.begin_array();
  for (const Problem& layer : problem.layers) {
    json.begin_object();
    json.integer("d_model", layer.d_model());
    write_sizes({json, layer, pen.with_matrices, true});
    json.end();
  }
  if (stack) json.end();
  write_norm(pen, "final_norm", pen.problem.final_norm);
  write_labels(json, "token_labels", problem.tokens);
  write_labels(json, "key_labels", problem.tokens_kv);
  json.end();
}

void write_parameters(const ProblemPen& pen) {
  pen.json.begin_object("parameters");
  if (!pen.bare) write_X_kv(pen);
  if (!pen.bare && pen.problem.layers.empty()) write_layout(pen);
  if (pen.problem.layers.empty()) write_weights(pen);
  for (const std::string_view place : {"norm", "mlp", "mlp_norm", "final_norm"}) {
    if (!has_parameters_of(pen.problem, place)) continue;
    pen.json.begin_object(place);
    write_parameters_of(pen, place);
    pen.json.end();
  }
  pen.json.end();
}

// The steps of a run, or the gradients of their values: of a stack X, then the layers that hold anything, then what is of
// no layer; each with its parameters.
class TraceWriter {
 public:
  TraceWriter(JsonWriter& json, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection)
      : json_(json), problem_(problem), plan_(plan), trace_(trace), selection_(selection) {}

  void write(bool with_weights) {
    write_all(
        [this](StepId step, int layer) { return selection_.has(step, layer) ? plan_.find(step, layer) : std::nullopt; },
        with_weights ? std::optional(ProblemPen{json_, problem_, true, true}) : std::nullopt);
  }

  // Where P, the result, is told, so is the loss.
  void write_gradients() {
    const Tensor* const result = trace_.value(plan_.forward_result());
    const std::optional<double> loss = result != nullptr ? loss_of(*problem_.loss, *result) : std::nullopt;
    if (loss) json_.number("loss", *loss);
    const Problem parameters = gradients_of_parameters(problem_, plan_, trace_);
    json_.begin_object("gradients");
    write_all([this](StepId step, int layer) { return gradient(plan_.find(step, layer)); },
              selection_.parameters ? std::optional(ProblemPen{json_, parameters, true, true, true, trace_.dtype})
                                    : std::nullopt);
    write_gradient_of_X_kv();
    json_.end();
  }

 private:
  std::optional<ValueId> gradient(std::optional<ValueId> of) const {
    const std::optional<ValueId> id = of ? plan_.gradient(*of) : std::nullopt;
    return id && selection_.has(plan_, plan_.value(*id)) ? id : std::nullopt;
  }

  // One matrix, or with a batch a list of them.
  void write_matrices(const Tensor& tensor, Index head) const {
    const Shape& shape = tensor.shape();
    if (problem_.batched) json_.begin_array();
    for (Index item = 0; item < shape.batch; ++item)
      json_.matrix(tensor.matrix(item, head), shape.rows, shape.cols, trace_.dtype);
    if (problem_.batched) json_.end();
  }

  template <typename Find>
  void write_all(Find find, const std::optional<ProblemPen>& parameters) {
    const auto chosen = [&](StepId step, int layer) -> const Tensor* {
      const std::optional<ValueId> value = find(step, layer);
      return value ? trace_.value(*value) : nullptr;
    };
    const auto write_of = [&](int layer, auto wanted) {
      const Problem& own = problem_.layer(layer);
      const auto of = [&](StepId step) { return wanted(step) ? chosen(step, layer) : nullptr; };
      write_steps(json_, {of, [this](const Tensor& tensor, Index head) { write_matrices(tensor, head); }, own.heads,
                          own.grouped ? std::optional(own.kv_heads) : std::nullopt, selection_});
    };
    const auto of_layer = [](StepId step) { return !is_of_no_layer(step); };
    const bool stack = !problem_.layers.empty();
    if (parameters && (!stack || problem_.final_norm)) write_parameters(*parameters);
    write_of(0, [&](StepId step) { return stack ? step == StepId::X : true; });
    bool open = false;
    for (int layer = 0; stack && layer < problem_.layer_count(); ++layer) {
      const auto is_chosen = [&](const StepName& name) {
        return of_layer(name.step) && chosen(name.step, layer) != nullptr;
      };
      const bool with_parameters = parameters && (!parameters->bare || selection_.has_layer(layer));
      if (!with_parameters && std::none_of(step_names.begin(), step_names.end(), is_chosen)) continue;
      if (!open) json_.key("layers"), json_.begin_array();
      open = true;
      json_.begin_object();
      json_.integer("layer", layer + 1);
      if (with_parameters)
        write_parameters({json_, parameters->problem.layer(layer), true, true, parameters->bare, trace_.dtype});
      write_of(layer, of_layer);
      json_.end();
    }
    if (open) json_.end();
    if (stack) write_of(0, [](StepId step) { return step == StepId::final_norm; });
  }

  void write_gradient_of_X_kv() {
    for (std::size_t id = 0; id < plan_.values.size() && problem_.X_kv; ++id)
      if (plan_.values[id].constant.get() == &*problem_.X_kv)
        if (const std::optional<ValueId> found = gradient(static_cast<ValueId>(id)))
          json_.key("X_kv"), write_matrices(*trace_.value(*found), 0);
  }

  JsonWriter& json_;
  const Problem& problem_;
  const Plan& plan_;
  const Trace& trace_;
  const Selection& selection_;
};

}  // namespace

void write_config(JsonWriter& json, const Problem& problem) {
  write_config({json, problem, false, true});
}

void write_steps(JsonWriter& json, const StepMatrices& steps) {
  const auto of = [&](StepId step) -> const Tensor* {  // a norm stands under its name, whatever its place
    if (placed(StepId::norm, true) == step || placed(StepId::mlp_norm, true) == step) return nullptr;
    const Tensor* const before = steps.of(step);
    return before != nullptr ? before : steps.of(placed(step, true));
  };
  const auto any = [&](auto belongs) {
    return std::any_of(step_names.begin(), step_names.end(),
                       [&](const StepName& name) { return belongs(name) && of(name.step) != nullptr; });
  };
  const auto write = [&](Index head, auto belongs) {
    for (const StepName& name : step_names) {
      const Tensor* const matrices = belongs(name) ? of(name.step) : nullptr;
      if (matrices == nullptr) continue;
      json.key(is_packed(name.step) ? name.symbol : name.id);  // "packed.Q" stands as "Q" in the object "packed"
      steps.write(*matrices, broadcast(head, matrices->shape().heads, steps.heads));
    }
  };
  const auto packed = [](const StepName& name) { return is_packed(name.step); };
  const auto of_head = [](const StepName& name) { return name.per_head; };
  write(0, [](const StepName& name) { return name.step <= StepId::norm; });
  if (any(packed)) {
    json.begin_object("packed");
    write(0, packed);
    json.end();
  }
  if (any(of_head)) {
    json.begin_array("heads");
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
  json.begin_file("mha-trace");
  write_title(pen);
  json.text("device", trace.device);
  json.text("dtype", dtype_name(trace.dtype));
  json.integer("rounding", trace.rounding);
  write_config(pen);
  write_computed(json, problem, plan, trace, selection, with_weights);
  json.finish();
}

void write_computed(JsonWriter& json, const Problem& problem, const Plan& plan, const Trace& trace,
                    const Selection& selection, bool with_weights) {
  TraceWriter writer(json, problem, plan, trace, selection);
  writer.write(with_weights);
  if (plan.is_backward(plan.steps.back())) writer.write_gradients();
}

}  // namespace mha::io
