// What the masks of a plan do, taken apart: which keys they hide, and which numbers they add besides.
#pragma once

#include <limits>

#include "study/mistakes/plan_editor.hpp"

namespace mha::study {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Another number for each entry, row by row as they are asked for: whatever has the size of the scores stays a rule.
template <typename Change>
Tensor changed(std::shared_ptr<const Tensor> of, Change change) {
  const Shape shape = of->shape();
  return by_rule(shape, [of = std::move(of), change](Index i, double* to) {
    std::vector<double> room;
    const double* row = of->row(i, room);
    std::transform(row, row + of->shape().cols, to, change);
  });
}

// Calls visit(key) for each key that one of the masks hides in this row, counted through all matrices of a tensor of this
// shape, onto which the masks are broadcast; for each mask that hides it once.
template <typename Visit>
void each_hidden_key(const std::vector<std::shared_ptr<const Tensor>>& masks, const Shape& shape, Index row, Visit visit) {
  const Index matrix = row / shape.rows;
  std::vector<double> room;
  for (const auto& mask : masks) {
    const double* numbers = mask->row(shape, matrix / shape.heads, matrix % shape.heads, row % shape.rows, room);
    for (Index j = 0; j < shape.cols; ++j)
      if (numbers[mask->shape().cols == 1 ? 0 : j] == minus_infinity) visit(j);
  }
}

// 1 where a query may attend to the key, 0 where a mask hides it: b×h×n×m, where b and h may be 1. Nothing where there is
// no mask that hides a key.
std::optional<Tensor> keep_of(const Plan& plan);

// Whether masks let no query look at what comes later.
bool can_be_cached(const Plan& plan);

// Another number for each entry of `keep`: one where it is 1, one where it is 0.
Tensor choose(const Tensor& keep, double where_kept, double where_hidden);

// The scores before the masks, and what the masks add without hiding anything (a slope, a bias): the terms of a sum.
std::vector<ValueId> unhidden_terms(PlanEditor& edit);

// The sum of these terms as one value.
ValueId unhidden_scores(PlanEditor& edit);

// Lets the masked scores be the unhidden ones with 0 in place of each hidden entry.
void mask_by_product(PlanEditor& edit, const Tensor& keep);

}  // namespace mha::study
