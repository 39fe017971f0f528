// Takes rows of values while a run computes them, so that nobody has to keep them.
#pragma once

#include "core/plan.hpp"

namespace mha {

class RowTaker {
 public:
  virtual ~RowTaker() = default;

  // Rows first … first + count of one matrix of a value, one behind the other; doubles may be floats of the run. They are
  // gone when this returns. Each row of each wanted value comes once. Called from several threads at a time.
  virtual void take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) = 0;
  virtual void take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) = 0;
};

}  // namespace mha
