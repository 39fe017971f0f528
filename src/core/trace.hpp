// What a run leaves behind: the values of the chosen steps, and how they were computed.
#pragma once

#include "core/plan.hpp"

namespace mha {

enum class Dtype { f32, f64 };
constexpr std::string_view dtype_name(Dtype dtype) {
  return dtype == Dtype::f32 ? "f32" : "f64";
}

// Which steps and heads are shown and exported; what is computed never depends on it.
struct Selection {
  std::vector<bool> steps = std::vector<bool>(step_count, true);  // by StepId
  std::vector<bool> gradients = steps;                            // likewise: dL/d of their results, and
  bool parameters = true;                                         // of weights, biases, γ and β,
  std::vector<std::string_view> of_parameters;                    // on the page of these alone: "dW_Q"; empty: of all
  std::vector<Index> heads, layers;                               // from 0, ascending; empty: all

  bool has(StepId step) const {
    if (!is_gradient(step)) return steps[static_cast<std::size_t>(step)];
    const std::optional<StepId>& of = name_of(step).of;
    return of ? gradients[static_cast<std::size_t>(*of)] : parameters;
  }
  bool has_head(Index head) const { return heads.empty() || std::binary_search(heads.begin(), heads.end(), head); }
  bool has_layer(int layer) const { return layers.empty() || std::binary_search(layers.begin(), layers.end(), layer); }
  bool has(StepId step, int layer) const { return has(step) && (is_of_no_layer(step) || has_layer(layer)); }
  // A computed value: a step's result, or dL/d of one or of what is given, with its parts.
  bool has(const Plan& plan, const Value& value) const {
    if (value.gradient == Value::Gradient::none) return value.step && has(*value.step, value.layer);
    const Value& of = plan.value(value.of);
    const StepId step = of.step.value_or(StepId::X);  // or X_kv
    const auto& some = of_parameters;
    const bool named = some.empty() || std::find(some.begin(), some.end(), value.symbol) != some.end();
    const bool is_value = of.step || of.role == Value::Role::input;
    const bool chosen = is_value ? gradients[static_cast<std::size_t>(step)] : parameters && named;
    return chosen && (is_of_no_layer(step) || has_layer(value.layer));
  }
};

struct Trace {
  std::string device = "cpu";
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;                        // decimals to which each step was rounded by hand
  std::vector<std::shared_ptr<const Tensor>> values;  // by ValueId; null where it was not kept

  const Tensor* value(ValueId id) const { return values[static_cast<std::size_t>(id)].get(); }
};

// Takes rows of values while a run computes them, so that nobody has to keep them.
class RowTaker {
 public:
  virtual ~RowTaker() = default;

  // Rows first … first + count of one matrix of a value, one behind the other; doubles may be floats of the run. They are
  // gone when this returns. Each row of each wanted value comes once. Called from several threads at a time.
  virtual void take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) = 0;
  virtual void take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) = 0;
};

}  // namespace mha
