// Masks as numbers to add to the scaled scores. One function for each kind; all count queries i and keys j from 0.
#include "core/mask.hpp"

#include <cmath>
#include <limits>

namespace mha {
namespace {

constexpr double hidden = -std::numeric_limits<double>::infinity();

// Fills an items×1×n×m tensor from a rule over (item, where query i stands among the keys, key j). One matrix serves all
// items unless the alignment is given for each.
template <typename Rule>
Tensor from_positions(const Mask& mask, const Problem& problem, Index heads, Rule rule) {
  const Align align = mask.align.value_or(Align{});
  const Index items = align.kind == Align::Kind::per_item ? problem.batch() : 1;
  Tensor result({items, heads, problem.queries(), problem.keys()});
  for (Index item = 0; item < items; ++item) {
    const Index offset = align.offset(item, problem.queries(), problem.keys());
    for (Index head = 0; head < heads; ++head)
      for (Index i = 0; i < problem.queries(); ++i)
        for (Index j = 0; j < problem.keys(); ++j) result.at(item, head, i, j) = rule(head, i + offset, j);
  }
  return result;
}

Tensor causal(const Mask& mask, const Problem& problem) {
  return from_positions(mask, problem, 1, [](Index, Index position, Index j) { return j > position ? hidden : 0.0; });
}

Tensor window(const Mask& mask, const Problem& problem) {
  return from_positions(mask, problem, 1, [&mask](Index, Index position, Index j) {
    const bool too_far_left = mask.left && position - j > *mask.left;
    const bool too_far_right = mask.right && j - position > *mask.right;
    return too_far_left || too_far_right ? hidden : 0.0;
  });
}

Tensor alibi(const Mask& mask, const Problem& problem) {
  const std::vector<double> slopes = mask.slopes ? *mask.slopes : alibi_slopes(problem.heads);
  return from_positions(mask, problem, problem.heads, [&slopes](Index head, Index position, Index j) {
    const auto distance = static_cast<double>(std::abs(position - j));
    return distance == 0 ? 0.0 : -slopes[static_cast<std::size_t>(head)] * distance;
  });
}

// 0/1 entries of which `open` lets a query through.
Tensor from_switches(const Tensor& matrix, double open) {
  Tensor result(matrix.shape());
  for (Index i = 0; i < matrix.size(); ++i) result.data()[i] = matrix.data()[i] == open ? 0.0 : hidden;
  return result;
}

}  // namespace

Tensor mask_tensor(const Mask& mask, const Problem& problem) {
  switch (mask.kind) {
    case Mask::Kind::none: break;
    case Mask::Kind::causal: return causal(mask, problem);
    case Mask::Kind::window: return window(mask, problem);
    case Mask::Kind::alibi: return alibi(mask, problem);
    case Mask::Kind::padding: return from_switches(mask.matrix, 1);
    case Mask::Kind::allow: return from_switches(mask.matrix, 1);
    case Mask::Kind::block: return from_switches(mask.matrix, 0);
    case Mask::Kind::add: return mask.matrix;
  }
  Tensor nothing({1, 1, 1, problem.keys()});
  nothing.fill(0);
  return nothing;
}

std::vector<double> alibi_slopes(Index heads) {
  const auto geometric = [](Index count) {  // 2^(−8/count), its square, its cube, …
    std::vector<double> slopes;
    for (Index k = 1; k <= count; ++k)
      slopes.push_back(std::exp2(-8.0 * static_cast<double>(k) / static_cast<double>(count)));
    return slopes;
  };
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes = geometric(power);
  const std::vector<double> finer = geometric(2 * power);
  for (std::size_t k = 0; slopes.size() < static_cast<std::size_t>(heads); k += 2) slopes.push_back(finer[k]);
  return slopes;
}

std::string_view mask_name(Mask::Kind kind) {
  switch (kind) {
    case Mask::Kind::none: return "none";
    case Mask::Kind::causal: return "causal";
    case Mask::Kind::window: return "window";
    case Mask::Kind::padding: return "padding";
    case Mask::Kind::allow: return "allow";
    case Mask::Kind::block: return "block";
    case Mask::Kind::add: return "add";
    case Mask::Kind::alibi: return "alibi";
  }
  return "";
}

std::vector<Row> rows_without_key(const Problem& problem, const std::vector<const Tensor*>& masks) {
  std::vector<Row> rows;
  if (masks.empty()) return rows;
  const Shape onto{problem.batch(), problem.heads, problem.queries(), problem.keys()};
  const auto is_hidden = [&](Index item, Index head, Index i, Index j) {
    for (const Tensor* mask : masks)
      if (mask->spread(onto, item, head, i, j) == hidden) return true;
    return false;
  };
  for (Index item = 0; item < onto.batch; ++item)
    for (Index head = 0; head < onto.heads; ++head)
      for (Index i = 0; i < onto.rows; ++i) {
        Index j = 0;
        while (j < onto.cols && is_hidden(item, head, i, j)) ++j;
        if (j == onto.cols) rows.push_back({item, head, i});
      }
  return rows;
}

}  // namespace mha
