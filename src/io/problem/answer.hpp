// What a person handed in: matrices under the names of steps, as they stand in the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/step.hpp"
#include "core/tensor.hpp"

namespace mha::io {

struct AnswerMatrix {
  StepId step = StepId::X;
  std::optional<Index> head;       // from 0; nothing where the name has no head's number
  std::vector<Index> axes;         // rows and columns, and in front of them what the file has: heads, a batch
  Numbers numbers;                 // row after row
  std::vector<std::size_t> blank;  // the places of entries that were not filled in; what stands there means nothing
};

struct Answer {
  std::string name;  // the file's, or that of a line
  std::vector<AnswerMatrix> matrices;
  // How exactly the numbers are written, the most anywhere in the answer. X is not counted: it is copied, not computed.
  int decimals = 0;
  int digits = 0;
  std::vector<std::string> unknown;  // keys that name no step, each with a suggestion where one is near
};

}  // namespace mha::io
