// Walks the table of step names in the order of the contract and writes each matrix straight from the trace.
#include "io/problem/trace_writer.hpp"

#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

class TraceWriter {
 public:
  TraceWriter(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
              bool with_weights)
      : json_(sink), whole_(problem), with_weights_(with_weights), plan_(plan), trace_(trace), selection_(selection) {}

  void write();

 private:
  void write_config();
  void write_sizes(const Problem& layer);
  void write_layers();
  void write_layer(int layer);
  void write_parameters(const Problem& layer);
  void write_packed(int layer);
  void write_heads(int layer);
  void write_head(int layer, Index head);
  void write_step(const StepName& step, int layer = 0, Index head = 0);
  void write_matrices(const Tensor& tensor, Index group);

  ProblemPen pen(const Problem& layer) { return {json_, layer, with_weights_, true}; }
  bool is_stack() const { return !whole_.layers.empty(); }
  // The step's result; null where it was not chosen or not kept, or where the problem has no such step.
  const Tensor* chosen(StepId step, int layer) const;
  template <class Belongs>
  bool any_chosen(int layer, Belongs belongs) const;

  JsonWriter json_;
  const Problem& whole_;
  const bool with_weights_;
  const Plan& plan_;
  const Trace& trace_;
  const Selection& selection_;
};

void TraceWriter::write() {
  json_.begin_object();
  json_.text("format", "mha-trace");
  json_.integer("version", 1);
  write_title(pen(whole_));
  json_.text("device", trace_.device);
  json_.text("dtype", dtype_name(trace_.dtype));
  json_.integer("rounding", trace_.rounding);
  write_config();
  if (with_weights_ && (!is_stack() || whole_.final_norm)) write_parameters(whole_);
  write_step(name_of(StepId::X));
  if (is_stack()) {
    write_layers();
  } else {
    write_layer(0);
  }
  write_step(name_of(StepId::final_norm));
  json_.end();
  json_.finish();
}

void TraceWriter::write_layers() {
  const auto any = [](const StepName& step) { return !is_of_no_layer(step.step); };
  bool open = false;
  for (int layer = 0; layer < whole_.layer_count(); ++layer) {
    if (!with_weights_ && !any_chosen(layer, any)) continue;
    if (!open) json_.key("layers"), json_.begin_array();
    open = true;
    write_layer(layer);
  }
  if (open) json_.end();
}

// The steps of a layer, as an object of its own in a stack.
void TraceWriter::write_layer(int layer) {
  if (is_stack()) {
    json_.begin_object();
    json_.integer("layer", layer + 1);
    if (with_weights_) write_parameters(whole_.layer(layer));
  }
  write_step(name_of(StepId::norm), layer);
  write_packed(layer);
  write_heads(layer);
  for (const StepName& step : step_names)
    if (step.step >= StepId::concat && step.step != StepId::final_norm) write_step(step, layer);
  if (is_stack()) json_.end();
}

void TraceWriter::write_parameters(const Problem& layer) {
  json_.key("parameters");
  json_.begin_object();
  write_X_kv(pen(layer));
  if (layer.layers.empty()) write_weights(pen(layer));
  for (const std::string_view place : {"norm", "mlp", "mlp_norm", "final_norm"}) {
    if (!has_parameters_of(layer, place)) continue;
    json_.key(place);
    json_.begin_object();
    write_parameters_of(pen(layer), place);
    json_.end();
  }
  json_.end();
}

void TraceWriter::write_config() {
  json_.key("config");
  json_.begin_object();
  json_.integer("batch", whole_.batched ? std::optional(whole_.batch()) : std::nullopt);
  json_.integer("tokens", whole_.queries());
  if (!is_stack()) json_.integer("keys", whole_.keys());
  json_.integer("d_model", whole_.d_model());
  if (is_stack()) {
    json_.key("layers");
    json_.begin_array();
    for (const Problem& layer : whole_.layers) {
      json_.begin_object();
      json_.integer("d_model", layer.d_model());
      write_sizes(layer);
      json_.end();
    }
    json_.end();
  } else {
    json_.integer("d_kv", whole_.d_kv());
    write_sizes(whole_);
  }
  write_final_norm(pen(whole_));
  write_labels(json_, "token_labels", whole_.tokens);
  write_labels(json_, "key_labels", whole_.tokens_kv);
  json_.end();
}

void TraceWriter::write_sizes(const Problem& layer) {
  json_.integer("heads", layer.heads);
  json_.integer("kv_heads", layer.kv_heads);
  json_.integer("d_k", layer.d_k());
  json_.integer("d_v", layer.d_v());
  json_.integer("d_out", layer.d_out());
  for (const ProblemKey& row : keys_of_problem())
    if (row.part == Part::rule && row.write != write_masks) row.write(pen(layer));
  write_masks(pen(layer));
}

void TraceWriter::write_packed(int layer) {
  const auto packed = [](const StepName& step) { return is_packed(step.step); };
  if (!any_chosen(layer, packed)) return;
  json_.key("packed");
  json_.begin_object();
  for (const StepName& step : step_names) {
    if (packed(step)) write_step(step, layer);
  }
  json_.end();
}

void TraceWriter::write_heads(int layer) {
  if (!any_chosen(layer, [](const StepName& step) { return step.per_head; })) return;
  json_.key("heads");
  json_.begin_array();
  for (Index head = 0; head < whole_.layer(layer).heads; ++head) {
    if (selection_.has_head(head)) write_head(layer, head);
  }
  json_.end();
}

void TraceWriter::write_head(int layer, Index head) {
  const Problem& problem = whole_.layer(layer);
  json_.begin_object();
  json_.integer("head", head + 1);
  if (problem.grouped) json_.integer("kv_head", broadcast(head, problem.kv_heads, problem.heads) + 1);
  for (const StepName& step : step_names) {
    if (step.per_head) write_step(step, layer, head);
  }
  json_.end();
}

// "packed.Q" stands as "Q" in the object "packed".
void TraceWriter::write_step(const StepName& step, int layer, Index head) {
  const Tensor* tensor = chosen(step.step, layer);
  if (tensor == nullptr) return;
  json_.key(is_packed(step.step) ? step.symbol : step.id);
  write_matrices(*tensor, broadcast(head, tensor->shape().heads, whole_.layer(layer).heads));
}

// One matrix, or with a batch a list of them.
void TraceWriter::write_matrices(const Tensor& tensor, Index group) {
  const Shape& shape = tensor.shape();
  if (whole_.batched) json_.begin_array();
  for (Index item = 0; item < shape.batch; ++item) {
    json_.matrix(tensor.matrix(item, group), shape.rows, shape.cols, trace_.dtype);
  }
  if (whole_.batched) json_.end();
}

const Tensor* TraceWriter::chosen(StepId step, int layer) const {
  if (!selection_.has(step, layer)) return nullptr;
  const std::optional<ValueId> value = plan_.find(step, layer);
  return value ? trace_.value(*value) : nullptr;
}

template <class Belongs>
bool TraceWriter::any_chosen(int layer, Belongs belongs) const {
  for (const StepName& step : step_names) {
    if (belongs(step) && chosen(step.step, layer) != nullptr) return true;
  }
  return false;
}

}  // namespace

void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights) {
  TraceWriter(sink, problem, plan, trace, selection, with_weights).write();
}

}  // namespace mha::io
