// A plan as rows of a person's work: which step writes which row, which rows differ between two plans, and how something
// wrong spreads.
#pragma once

#include <array>
#include <optional>

#include "compute/backend.hpp"
#include "core/plan.hpp"

namespace mha::study {

// A plan ready to be walked step by step, again and again.
struct RowPlan {
  explicit RowPlan(Plan of);

  Plan plan;
  compute::Schedule schedule;                         // every value stands whole
  std::array<std::optional<ValueId>, row_count> row;  // the value written down as each step

  std::optional<ValueId> loss_gradient = {};  // G, from which the way back begins where it is given

  std::optional<ValueId> value(StepId step) const { return row[static_cast<std::size_t>(step)]; }
};

// By StepId: whether a row is computed otherwise in the two plans, from the same earlier rows.
using Rows = std::array<bool, row_count>;
Rows changed_rows(const RowPlan& changed, const RowPlan& right);

// Which heads of which values depend on something that is wrong.
class Taint {
 public:
  explicit Taint(const RowPlan& rows);

  bool has(StepId step, std::size_t head) const;
  void add(StepId step, std::size_t head);
  void add(ValueId value) { heads_[static_cast<std::size_t>(value)].assign(1, true); }  // of all heads
  // From the rows before `step` to it.
  void spread_to(StepId step);

 private:
  void spread(const Step& step);

  const RowPlan& rows_;
  std::vector<std::vector<bool>> heads_;  // by ValueId
};

}  // namespace mha::study
