// The names of matrices in answers: ids and symbols, flat with the head's number behind them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/step.hpp"
#include "core/tensor.hpp"

namespace mha::io {

// Higher numbers are no heads of anything.
inline constexpr Index most_heads = 100'000;

struct MatrixName {
  StepId step;
  std::optional<Index> head;  // from 0
};

// "weights1", "A1", "head_output2", "Y", "packed.Q"; "Q" without a number is what belongs to all heads.
std::optional<MatrixName> matrix_name(std::string_view key);

// A step of one head by its id or symbol: "weights", "A".
std::optional<StepId> head_step(std::string_view key);

// A step of all heads in the object "packed": "Q", "K", "V".
std::optional<StepId> packed_step(std::string_view key);

// Every name that `matrix_name` knows, with number 1, for suggestions.
std::vector<std::string> known_matrix_names();

}  // namespace mha::io
