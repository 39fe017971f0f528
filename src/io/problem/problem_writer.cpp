// The parameters of a problem, each once, and the problem file as a whole.
#include "io/problem/problem_writer.hpp"

#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

const Reference* reference_of(const Tensor& tensor) {
  return dynamic_cast<const Reference*>(tensor.stored().get());
}

// Q, K and V side by side again: by columns, or by rows (one behind the other in memory) where weights are out×in.
Tensor join(const Tensor& q, const Tensor& k, const Tensor& v, bool by_rows) {
  if (reference_of(q) != nullptr) return q;  // which names the whole
  Shape shape = q.shape();
  if (by_rows) {
    shape.rows += k.shape().rows + v.shape().rows;
  } else {
    shape.cols += k.shape().cols + v.shape().cols;
  }
  Tensor joined(shape);
  double* to = joined.data();
  const Index stretches = by_rows ? 1 : shape.rows;
  for (Index i = 0; i < stretches; ++i) {
    for (const Tensor* part : {&q, &k, &v}) {
      const Index count = part->size() / stretches;
      to = std::copy_n(part->data() + i * count, count, to);
    }
  }
  return joined;
}

// W_QKV and b_QKV of a fused problem.
Linear fused_weights(const Problem& problem) {
  const bool out_by_in = problem.layout == Layout::torch;
  Linear fused{join(problem.Q.W, problem.K.W, problem.V.W, out_by_in), std::nullopt};
  if (problem.Q.b) fused.b = join(*problem.Q.b, *problem.K.b, *problem.V.b, false);
  return fused;
}

class ParameterLister {
 public:
  explicit ParameterLister(const Problem& problem) : problem_(problem) {}

  std::vector<Parameter> list() {
    if (!problem_.layers.empty()) {
      add_norm("final_norm", problem_.final_norm);
      return std::move(parameters_);
    }
    if (problem_.packed)
      add_packed();
    else
      add_heads();
    if (!problem_.output_is_concat) add("", 0, "O", here(problem_.O));
    add_norm("norm", problem_.norm);
    if (problem_.mlp) add_mlp(*problem_.mlp);
    add_norm("mlp_norm", problem_.mlp_norm);
    add_norm("final_norm", problem_.final_norm);
    return std::move(parameters_);
  }

 private:
  // The problem outlives the parameters, so that nobody needs to own its tensors.
  static std::shared_ptr<const Linear> here(const Linear& linear) { return {std::shared_ptr<void>(), &linear}; }

  void add(std::string_view place, Index entry, std::string_view name, const std::shared_ptr<const Linear>& linear) {
    const Shape& W = linear->W.shape();
    parameters_.push_back(
        {place, entry, fmt::format("W_{}", name), {linear, &linear->W}, {W.rows, W.cols}, entry * W.rows});
    if (!linear->b || (!linear->has_b.empty() && !linear->has_b[static_cast<std::size_t>(entry)])) return;
    parameters_.push_back(
        {place, entry, fmt::format("b_{}", name), {linear, &*linear->b}, {linear->b->shape().cols}, entry});
  }

  void add_keys_and_values(std::string_view place, Index entry) {
    add(place, entry, "K", here(problem_.K));
    add(place, entry, "V", here(problem_.V));
  }

  void add_packed() {
    if (problem_.fused) return add("", 0, "QKV", std::make_shared<const Linear>(fused_weights(problem_)));
    add("", 0, "Q", here(problem_.Q));
    add_keys_and_values("", 0);
  }

  void add_heads() {
    for (Index head = 0; head < problem_.heads; ++head) {
      add("heads", head, "Q", here(problem_.Q));
      if (!problem_.grouped) add_keys_and_values("heads", head);
    }
    if (problem_.grouped)
      for (Index head = 0; head < problem_.kv_heads; ++head) add_keys_and_values("kv_heads", head);
  }

  void add_mlp(const Mlp& mlp) {
    if (mlp.gate) add("mlp", 0, "gate", here(*mlp.gate));
    add("mlp", 0, "1", here(mlp.first));
    add("mlp", 0, "2", here(mlp.second));
  }

  void add_norm(std::string_view place, const std::optional<NormRule>& norm) {
    if (!norm) return;
    for (const auto& [key, vector] : {std::pair("gamma", &norm->gamma), std::pair("beta", &norm->beta)})
      if (*vector) parameters_.push_back({place, 0, key, {std::shared_ptr<void>(), &**vector}, {(*vector)->shape().cols}});
  }

  const Problem& problem_;
  std::vector<Parameter> parameters_;
};

void write_parameter(const ProblemPen& pen, const Parameter& parameter) {
  JsonWriter& json = pen.json;
  json.key(parameter.key);
  if (const Reference* reference = reference_of(*parameter.tensor)) return reference->write(json);
  const std::vector<Index>& axes = parameter.axes;
  const double* const first = parameter.tensor->data() + parameter.first_row * axes.back();
  if (axes.size() == 1) return json.row(first, axes[0], pen.dtype);
  json.matrix(first, axes[0], axes[1], pen.dtype);
}

void write_input(const ProblemPen& pen, std::string_view key, const Tensor& tensor) {
  if (tensor.size() == 0) return;  // an imported problem may wait for it
  pen.json.key(key);
  if (const Reference* reference = reference_of(tensor)) return reference->write(pen.json);
  write_axes(pen.json, tensor, pen.problem.batched ? 3 : 2);
}

}  // namespace

std::vector<Parameter> parameters_in(const Problem& problem) {
  return ParameterLister(problem).list();
}

void write_axes(JsonWriter& json, const Tensor& tensor, int axes) {
  const Shape& shape = tensor.shape();
  if (axes == 1) return json.row(tensor.data(), shape.cols);
  if (axes == 2) return json.matrix(tensor.data(), shape.size() / shape.cols, shape.cols);
  json.begin_array();
  for (Index item = 0; item < shape.batch; ++item) {
    if (axes == 4) json.begin_array();
    for (Index head = 0; head < shape.heads; ++head) json.matrix(tensor.matrix(item, head), shape.rows, shape.cols);
    if (axes == 4) json.end();
  }
  json.end();
}

void write_X(const ProblemPen& pen) {
  write_input(pen, "X", pen.problem.X);
}

void write_X_kv(const ProblemPen& pen) {
  if (pen.problem.X_kv) write_input(pen, "X_kv", *pen.problem.X_kv);
}

void write_layout(const ProblemPen& pen) {
  const bool torch = pen.problem.layout == Layout::torch;
  if (torch || !pen.with_matrices) pen.json.text("layout", torch ? "torch" : "x@W");
}

void write_weights(const ProblemPen& pen) {
  const Problem& problem = pen.problem;
  if (!pen.bare && problem.packed) pen.json.integer("num_heads", problem.heads);
  if (!pen.bare && problem.packed && problem.grouped) pen.json.integer("num_kv_heads", problem.kv_heads);
  std::string_view list;  // that is open, at this entry
  Index entry = 0;
  const auto go_to = [&](std::string_view to, Index to_entry) {
    if (to == list && to_entry == entry) return;
    if (!list.empty()) pen.json.end();
    if (!list.empty() && to != list) pen.json.end();
    if (!to.empty() && to != list) pen.json.key(to), pen.json.begin_array();
    if (!to.empty()) pen.json.begin_object();
    list = to;
    entry = to_entry;
    if (list != "heads" || problem.head_names.empty() || pen.bare) return;
    const std::string& name = problem.head_names[static_cast<std::size_t>(entry)];
    if (!name.empty()) pen.json.text("name", name);
  };
  for (const Parameter& parameter : parameters_in(problem)) {
    if (!parameter.place.empty() && !is_list(parameter.place)) continue;
    go_to(parameter.place, parameter.entry);
    write_parameter(pen, parameter);
  }
  go_to("", 0);
  if (problem.output_is_concat && !pen.bare) pen.json.text("W_O", "identity");
}

bool has_parameters_of(const Problem& layer, std::string_view place) {
  const std::vector<Parameter> all = parameters_in(layer);
  return std::any_of(all.begin(), all.end(), [&](const Parameter& parameter) { return parameter.place == place; });
}

void write_parameters_of(const ProblemPen& pen, std::string_view place) {
  for (const Parameter& parameter : parameters_in(pen.problem))
    if (parameter.place == place) write_parameter(pen, parameter);
}

void write_layers(const ProblemPen& pen) {
  if (pen.problem.layers.empty()) return;
  pen.json.objects("layers", pen.problem.layers, [&](const Problem& layer) {
    for (const ProblemKey& row : keys_of_problem())
      if (row.write != nullptr && row.part != Part::frame) row.write({pen.json, layer, pen.with_matrices});
  });
}

void write_problem(Sink& sink, const Problem& problem) {
  JsonWriter json(sink);
  json.begin_object();
  for (const ProblemKey& row : keys_of_problem())
    if (row.write != nullptr && (problem.layers.empty() || row.part == Part::frame))
      row.write({json, problem, reference_of(problem.layer(0).Q.W) == nullptr});
  json.finish();
}

}  // namespace mha::io
