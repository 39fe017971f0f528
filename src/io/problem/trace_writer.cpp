// Walks the table of step names in the order of the contract and writes each matrix straight from the trace.
#include "io/problem/trace_writer.hpp"

#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

class TraceWriter {
 public:
  TraceWriter(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
              bool with_weights)
      : json_(sink),
        problem_(problem),
        pen_{json_, problem, with_weights, true},
        plan_(plan),
        trace_(trace),
        selection_(selection) {}

  void write();

 private:
  void write_config();
  void write_packed();
  void write_heads();
  void write_head(Index head);
  void write_step(const StepName& step, Index head = 0);
  void write_matrices(const Tensor& tensor, Index head);

  // The step's result; null where it was not chosen or not kept, or where the problem has no such step.
  const Tensor* chosen(StepId step) const;
  template <class Belongs>
  bool any_chosen(Belongs belongs) const;

  JsonWriter json_;
  const Problem& problem_;
  const ProblemPen pen_;
  const Plan& plan_;
  const Trace& trace_;
  const Selection& selection_;
};

void TraceWriter::write() {
  json_.begin_object();
  json_.text("format", "mha-trace");
  json_.integer("version", 1);
  write_title(pen_);
  json_.text("device", trace_.device);
  json_.text("dtype", dtype_name(trace_.dtype));
  json_.integer("rounding", trace_.rounding);
  write_config();
  if (pen_.with_matrices) {
    json_.key("parameters");
    json_.begin_object();
    write_X_kv(pen_);
    write_weights(pen_);
    json_.end();
  }
  write_step(name_of(StepId::X));
  write_packed();
  write_heads();
  write_step(name_of(StepId::concat));
  write_step(name_of(StepId::output));
  json_.end();
  json_.finish();
}

void TraceWriter::write_config() {
  json_.key("config");
  json_.begin_object();
  json_.integer("batch", problem_.batched ? std::optional(problem_.batch()) : std::nullopt);
  json_.integer("tokens", problem_.queries());
  json_.integer("keys", problem_.keys());
  json_.integer("d_model", problem_.d_model());
  json_.integer("d_kv", problem_.d_kv());
  json_.integer("heads", problem_.heads);
  json_.integer("kv_heads", problem_.kv_heads);
  json_.integer("d_k", problem_.d_k());
  json_.integer("d_v", problem_.d_v());
  json_.integer("d_out", problem_.d_out());
  for (const ProblemKey& row : keys_of_problem())
    if (row.part == Part::rule && row.write != write_masks) row.write(pen_);
  write_masks(pen_);
  write_labels(json_, "token_labels", problem_.tokens);
  write_labels(json_, "key_labels", problem_.tokens_kv);
  json_.end();
}

void TraceWriter::write_packed() {
  const auto packed = [](const StepName& step) { return is_packed(step.step); };
  if (!any_chosen(packed)) return;
  json_.key("packed");
  json_.begin_object();
  for (const StepName& step : step_names) {
    if (packed(step)) write_step(step);
  }
  json_.end();
}

void TraceWriter::write_heads() {
  if (!any_chosen([](const StepName& step) { return step.per_head; })) return;
  json_.key("heads");
  json_.begin_array();
  for (Index head = 0; head < problem_.heads; ++head) {
    if (selection_.has_head(head)) write_head(head);
  }
  json_.end();
}

void TraceWriter::write_head(Index head) {
  json_.begin_object();
  json_.integer("head", head + 1);
  if (problem_.grouped) json_.integer("kv_head", broadcast(head, problem_.kv_heads, problem_.heads) + 1);
  for (const StepName& step : step_names) {
    if (step.per_head) write_step(step, head);
  }
  json_.end();
}

// "packed.Q" stands as "Q" in the object "packed".
void TraceWriter::write_step(const StepName& step, Index head) {
  const Tensor* tensor = chosen(step.step);
  if (tensor == nullptr) return;
  json_.key(is_packed(step.step) ? step.symbol : step.id);
  write_matrices(*tensor, head);
}

// One matrix, or with a batch a list of them.
void TraceWriter::write_matrices(const Tensor& tensor, Index head) {
  const Shape& shape = tensor.shape();
  const Index group = broadcast(head, shape.heads, problem_.heads);
  if (problem_.batched) json_.begin_array();
  for (Index item = 0; item < shape.batch; ++item) {
    json_.matrix(tensor.matrix(item, group), shape.rows, shape.cols, trace_.dtype);
  }
  if (problem_.batched) json_.end();
}

const Tensor* TraceWriter::chosen(StepId step) const {
  if (!selection_.has(step)) return nullptr;
  const std::optional<ValueId> value = plan_.find(step);
  return value ? trace_.value(*value) : nullptr;
}

template <class Belongs>
bool TraceWriter::any_chosen(Belongs belongs) const {
  for (const StepName& step : step_names) {
    if (belongs(step) && chosen(step.step) != nullptr) return true;
  }
  return false;
}

}  // namespace

void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights) {
  TraceWriter(sink, problem, plan, trace, selection, with_weights).write();
}

}  // namespace mha::io
