// What a run leaves behind: the values of the chosen steps, and how they were computed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace mha {

enum class Dtype { f32, f64 };
constexpr std::string_view dtype_name(Dtype dtype) {
  return dtype == Dtype::f32 ? "f32" : "f64";
}

// Which steps and heads are shown and exported; what is computed never depends on it.
struct Selection {
  std::vector<bool> steps = std::vector<bool>(step_count, true);  // by StepId
  std::vector<Index> heads;                                       // from 0, ascending; empty: all
  std::vector<Index> layers;                                      // likewise

  bool has(StepId step) const { return steps[static_cast<std::size_t>(step)]; }
  bool has_head(Index head) const;
  bool has_layer(int layer) const;
  bool has(StepId step, int layer) const { return has(step) && (is_of_no_layer(step) || has_layer(layer)); }
};

struct Trace {
  std::string device = "cpu";
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;                        // decimals to which each step was rounded by hand
  std::vector<std::shared_ptr<const Tensor>> values;  // by ValueId; null where it was not kept

  const Tensor* value(ValueId id) const { return values[static_cast<std::size_t>(id)].get(); }
};

}  // namespace mha
