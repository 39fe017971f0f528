// The arrays of a trace under their names in binary files. Walks the table of step names as the writer of the JSON does.
#include "io/arrays/trace_arrays.hpp"

#include <fmt/format.h>

#include "core/mask.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

class ArrayLister {
 public:
  ArrayLister(const Problem& problem, const Plan& plan, const Selection& selection)
      : problem_(problem), plan_(plan), selection_(selection) {}

  std::vector<TraceArray> list(bool with_weights) {
    if (with_weights) add_parameters();
    if (selection_.has(StepId::X)) add_given("X", problem_.X, batch_axes(problem_.X));
    for (const StepName& step : step_names)
      if (is_packed(step.step)) add_step(step, std::string(step.id), 0);
    for (Index head = 0; head < problem_.heads; ++head) {
      if (!selection_.has_head(head)) continue;
      for (const StepName& step : step_names)
        if (step.per_head) add_step(step, fmt::format("heads.{}.{}", head + 1, step.id), head);
    }
    for (const StepId id : {StepId::concat, StepId::output}) add_step(name_of(id), std::string(name_of(id).id), 0);
    return std::move(arrays_);
  }

 private:
  std::vector<Index> batch_axes(const Tensor& tensor) const {
    const Shape& shape = tensor.shape();
    if (problem_.batched) return {shape.batch, shape.rows, shape.cols};
    return {shape.rows, shape.cols};
  }

  void add_step(const StepName& step, std::string name, Index head) {
    const std::optional<ValueId> value = plan_.find(step.step);
    if (!selection_.has(step.step) || !value) return;
    const Shape& shape = plan_.value(*value).shape;
    TraceArray array{
        std::move(name), {shape.rows, shape.cols}, *value, broadcast(head, shape.heads, problem_.heads), {}, 0};
    if (problem_.batched) array.axes.insert(array.axes.begin(), shape.batch);
    arrays_.push_back(std::move(array));
  }

  // The problem outlives the arrays, so that nobody needs to own its tensors.
  void add_given(std::string name, const Tensor& tensor, std::vector<Index> axes) {
    arrays_.push_back({std::move(name), std::move(axes), -1, 0, {std::shared_ptr<void>(), &tensor}, 0});
  }

  void add_parameters() {
    if (problem_.X_kv) add_given("parameters.X_kv", *problem_.X_kv, batch_axes(*problem_.X_kv));
    for (Parameter& parameter : parameters_in(problem_)) {
      const std::string entry = parameter.list.empty() ? "" : fmt::format("{}.{}.", parameter.list, parameter.entry + 1);
      arrays_.push_back({fmt::format("parameters.{}{}", entry, parameter.key), std::move(parameter.axes), -1, 0,
                         std::move(parameter.tensor), parameter.first_row});
    }
    // "mask.allow"; in a list "mask.2.allow".
    for (std::size_t i = 0; i < problem_.masks.size(); ++i) {
      const Mask& mask = problem_.masks[i];
      if (mask.matrix.size() == 0) continue;
      const std::string number = problem_.mask_is_list ? fmt::format("{}.", i + 1) : "";
      add_given(fmt::format("parameters.mask.{}{}", number, mask_name(mask.kind)), mask.matrix, axes_of(mask));
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

  const Problem& problem_;
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
