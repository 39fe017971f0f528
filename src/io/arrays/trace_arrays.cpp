// The arrays of a trace under their names in binary files. Walks the table of step names as the writer of the JSON does.
#include "io/arrays/trace_arrays.hpp"

#include <fmt/format.h>

#include "core/mask.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

class ArrayLister {
 public:
  ArrayLister(const Problem& whole, const Plan& plan, const Selection& selection)
      : whole_(whole), plan_(plan), selection_(selection) {}

  std::vector<TraceArray> list(bool with_weights) {
    const bool stack = !whole_.layers.empty();
    if (with_weights) {
      if (whole_.X_kv) add_given("parameters.X_kv", *whole_.X_kv, batch_axes(*whole_.X_kv));
      if (stack) add_parameters(whole_, "");  // of the final norm
      for (int layer = 0; layer < whole_.layer_count(); ++layer) add_parameters(whole_.layer(layer), prefix(layer));
    }
    if (selection_.has(StepId::X)) add_given("X", whole_.X, batch_axes(whole_.X));
    for (int layer = 0; layer < whole_.layer_count(); ++layer)
      if (selection_.has_layer(layer)) add_layer(layer);
    add_step(name_of(StepId::final_norm), "final_norm", 0, 0);
    return std::move(arrays_);
  }

 private:
  // "layers.2."; empty where there is no stack.
  std::string prefix(int layer) const { return whole_.layers.empty() ? "" : fmt::format("layers.{}.", layer + 1); }

  std::vector<Index> batch_axes(const Tensor& tensor) const {
    const Shape& shape = tensor.shape();
    if (whole_.batched) return {shape.batch, shape.rows, shape.cols};
    return {shape.rows, shape.cols};
  }

  void add_layer(int layer) {
    const auto add = [&](auto belongs) {
      for (const StepName& step : step_names)
        if (belongs(step)) add_step(step, prefix(layer) + std::string(step.id), layer, 0);
    };
    add([](const StepName& step) { return step.step == StepId::norm || is_packed(step.step); });
    for (Index head = 0; head < whole_.layer(layer).heads; ++head) {
      if (!selection_.has_head(head)) continue;
      for (const StepName& step : step_names)
        if (step.per_head) add_step(step, fmt::format("{}heads.{}.{}", prefix(layer), head + 1, step.id), layer, head);
    }
    add([](const StepName& step) { return step.step >= StepId::concat && step.step != StepId::final_norm; });
  }

  void add_step(const StepName& step, std::string name, int layer, Index head) {
    const std::optional<ValueId> value = plan_.find(step.step, layer);
    if (!selection_.has(step.step) || !value) return;
    const Shape& shape = plan_.value(*value).shape;
    TraceArray array{
        std::move(name), {shape.rows, shape.cols}, *value, broadcast(head, shape.heads, whole_.layer(layer).heads), {}, 0};
    if (whole_.batched) array.axes.insert(array.axes.begin(), shape.batch);
    arrays_.push_back(std::move(array));
  }

  // The problem outlives the arrays, so that nobody needs to own its tensors.
  void add_given(std::string name, const Tensor& tensor, std::vector<Index> axes) {
    arrays_.push_back({std::move(name), std::move(axes), -1, 0, {std::shared_ptr<void>(), &tensor}, 0});
  }

  void add_parameters(const Problem& layer, const std::string& before) {
    for (Parameter& parameter : parameters_in(layer)) {
      std::string place(parameter.place);
      if (is_list(parameter.place)) place += fmt::format(".{}", parameter.entry + 1);
      if (!place.empty()) place += ".";
      arrays_.push_back({fmt::format("parameters.{}{}{}", before, place, parameter.key), std::move(parameter.axes), -1, 0,
                         std::move(parameter.tensor), parameter.first_row});
    }
    // "mask.allow"; in a list "mask.2.allow".
    for (std::size_t i = 0; i < layer.masks.size(); ++i) {
      const Mask& mask = layer.masks[i];
      if (mask.matrix.size() == 0) continue;
      const std::string number = layer.mask_is_list ? fmt::format("{}.", i + 1) : "";
      add_given(fmt::format("parameters.{}mask.{}{}", before, number, mask_name(mask.kind)), mask.matrix, axes_of(mask));
    }
  }

  // As many as the file had.
  static std::vector<Index> axes_of(const Mask& mask) {
    const Shape& shape = mask.matrix.shape();
    switch (mask.matrix_axes) {
      case 1: return {shape.cols};
      case 2: return {shape.size() / shape.cols, shape.cols};
      case 3: return {shape.batch, shape.rows, shape.cols};
      default: return {shape.batch, shape.heads, shape.rows, shape.cols};
    }
  }

  const Problem& whole_;
  const Plan& plan_;
  const Selection& selection_;
  std::vector<TraceArray> arrays_;
};

}  // namespace

Index TraceArray::rows() const {
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis) rows *= axes[axis];
  return rows;
}

std::vector<TraceArray> trace_arrays(const Problem& problem, const Plan& plan, const Selection& selection,
                                     bool with_weights) {
  return ArrayLister(problem, plan, selection).list(with_weights);
}

}  // namespace mha::io
