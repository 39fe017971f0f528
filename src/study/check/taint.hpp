// How something wrong spreads through the steps of a plan.
#pragma once

#include <vector>

#include "study/mistakes/plan_rows.hpp"

namespace mha::study {

// Which heads of which values depend on something that is wrong.
class Taint {
 public:
  explicit Taint(const RowPlan& rows);

  bool has(StepId step, std::size_t head) const;
  void add(StepId step, std::size_t head);
  // From the rows before `step` to it.
  void spread_to(StepId step);

 private:
  void spread(const Step& step);

  const RowPlan& rows_;
  std::vector<std::vector<bool>> heads_;  // by ValueId
};

}  // namespace mha::study
