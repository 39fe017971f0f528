// Problems on which mistakes are made in these tests, and what comes out.
#pragma once

#include "folders.hpp"

#include <algorithm>
#include <set>

#include "compute/random_problem.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::test {

// n 5, d_model 6, h 3, d_k = d_v 2, biases, causal, nothing symmetric: what separates all that can be separated.
inline Sizes standard_sizes() {
  Sizes s;
  s.d_v = 2;
  s.d_out = 6;
  return s;
}

inline Problem standard_problem(std::uint32_t seed = 1, const Sizes& sizes = standard_sizes()) {
  Dice dice(seed);
  Problem p = random_problem(dice, sizes);
  p.masks = {causal_mask()};
  return p;
}

// The same layer with the weights of all heads in one matrix each.
inline Problem packed_form(Problem p, bool fused = false) {
  const auto side_by_side = [](const Tensor& t) {
    const Shape& s = t.shape();
    Tensor all({1, 1, s.rows, s.heads * s.cols});
    for (Index head = 0; head < s.heads; ++head)
      for (Index r = 0; r < s.rows; ++r)
        for (Index c = 0; c < s.cols; ++c) all.at(0, 0, r, head * s.cols + c) = t.at(0, head, r, c);
    return all;
  };
  for (Linear* linear : {&p.Q, &p.K, &p.V}) {
    linear->W = side_by_side(linear->W);
    if (linear->b) linear->b = side_by_side(*linear->b);
  }
  p.packed = true;
  p.fused = fused;
  return p;
}

// The same layer with its weights stored out×in.
inline Problem torch_form(Problem p) {
  for (Linear* linear : {&p.Q, &p.K, &p.V, &p.O}) {
    const Tensor W = linear->W;
    const Shape& s = W.shape();
    linear->W = Tensor({1, s.heads, s.cols, s.rows});
    for (Index head = 0; head < s.heads; ++head)
      for (Index r = 0; r < s.rows; ++r)
        for (Index c = 0; c < s.cols; ++c) linear->W.at(0, head, c, r) = W.at(0, head, r, c);
  }
  p.layout = Layout::torch;
  return p;
}

inline Mask padding_mask(std::vector<double> real) {
  Tensor matrix({1, 1, 1, static_cast<Index>(real.size())});
  std::copy(real.begin(), real.end(), matrix.data());
  Mask mask = matrix_mask(Mask::Kind::padding, std::move(matrix));
  mask.matrix_axes = 1;
  return mask;
}

inline Tensor matrix(std::vector<std::vector<double>> rows) {
  Tensor result({1, 1, static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size())});
  double* out = result.data();
  for (const std::vector<double>& row : rows) out = std::copy(row.begin(), row.end(), out);
  return result;
}

inline const Mistake& mistake(std::string_view id) {
  const Mistake* found = find_mistake(id);
  if (found == nullptr) throw std::runtime_error("no mistake " + std::string(id));
  return *found;
}

// The first step at which a form of the mistake gives other numbers than the right plan.
inline std::optional<StepId> shown_first(const Problem& problem, const Mistake& mistake) {
  const std::vector<Written> right = right_forms(problem);
  std::optional<StepId> first;
  for (const Variant& variant : mistake.variants(problem)) {
    const std::optional<StepId> shown = first_step_wrong(written(variant.plan, simulate(variant.plan)), right);
    if (shown && (!first || *shown < *first)) first = shown;
  }
  return first;
}

inline bool shows(const Problem& problem, std::string_view id) {
  return shown_first(problem, mistake(id)).has_value();
}

using IdSets = std::set<std::set<std::string_view>>;
inline IdSets groups(const Problem& problem, StepId from, double tolerance = same_number) {
  IdSets result;
  for (const auto& ids : indistinguishable(outcomes(problem, tolerance), right_forms(problem), from, tolerance))
    result.emplace(ids.begin(), ids.end());
  return result;
}

// What is written down with each form of a mistake.
inline std::vector<Written> results(const Problem& problem, std::string_view id) {
  std::vector<Written> all;
  for (const Variant& variant : mistake(id).variants(problem)) all.push_back(written(variant.plan, simulate(variant.plan)));
  return all;
}

inline Written right_result(const Problem& problem) {
  const Plan plan = answer_plan(problem);
  return written(plan, simulate(plan));
}

inline const Tensor& get(const Written& numbers, StepId step) {
  return *numbers[static_cast<std::size_t>(step)];
}

}  // namespace mha::test
