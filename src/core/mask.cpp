// Masks as numbers to add to the scaled scores. One function for each kind; all count queries i and keys j from 0.
#include "core/mask.hpp"

#include <functional>
#include <limits>

namespace mha {
namespace {

constexpr double hidden = -std::numeric_limits<double>::infinity();

// One row of the mask: where query i stands among the keys, the head, and the m numbers.
using FillRow = std::function<void(Index position, Index head, double* row, Index keys)>;

// items×heads×n×m: one matrix serves all items unless the alignment is given for each.
Tensor aligned(const Mask& mask, const Problem& problem, Index heads, FillRow fill) {
  const Align align = mask.align.value_or(Align{});
  const Shape shape{align.kind == Align::Kind::per_item ? problem.batch() : 1, heads, problem.queries(), problem.keys()};
  return by_rule(shape, [align, shape, fill = std::move(fill)](Index row, double* to) {
    const Index matrix = row / shape.rows;
    const Index offset = align.offset(matrix / shape.heads, shape.rows, shape.cols);
    fill(row % shape.rows + offset, matrix % shape.heads, to, shape.cols);
  });
}

// Keys first … last (half-open, cut to what there is) may be attended to, all others not.
void open_between(Index first, Index last, double* row, Index keys) {
  first = std::clamp<Index>(first, 0, keys);
  last = std::clamp<Index>(last, first, keys);
  std::fill(row, row + first, hidden);
  std::fill(row + first, row + last, 0.0);
  std::fill(row + last, row + keys, hidden);
}

Tensor causal(const Mask& mask, const Problem& problem) {
  return aligned(mask, problem, 1,
                 [](Index position, Index, double* row, Index keys) { open_between(0, position + 1, row, keys); });
}

Tensor window(const Mask& mask, const Problem& problem) {
  return aligned(mask, problem, 1, [left = mask.left, right = mask.right](Index position, Index, double* row, Index keys) {
    open_between(left ? position - *left : 0, right ? position + *right + 1 : keys, row, keys);
  });
}

Tensor alibi(const Mask& mask, const Problem& problem) {
  return aligned(mask, problem, problem.heads,
                 [slopes = mask.slopes ? *mask.slopes : alibi_slopes(problem.heads)](Index position, Index head,
                                                                                     double* row, Index keys) {
                   const double slope = slopes[static_cast<std::size_t>(head)];
                   for (Index j = 0; j < keys; ++j)
                     row[j] = j == position ? 0.0 : -slope * static_cast<double>(std::abs(position - j));
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

std::vector<Row> rows_without_key(const Shape& onto, const std::vector<const Tensor*>& masks) {
  std::vector<Row> rows;
  if (masks.empty()) return rows;
  std::vector<std::vector<double>> room(masks.size());
  std::vector<const double*> numbers(masks.size());
  const auto is_hidden = [&](Index j) {
    for (std::size_t k = 0; k < masks.size(); ++k)
      if (numbers[k][masks[k]->shape().cols == 1 ? 0 : j] == hidden) return true;
    return false;
  };
  for (Index item = 0; item < onto.batch; ++item)
    for (Index head = 0; head < onto.heads; ++head)
      for (Index i = 0; i < onto.rows; ++i) {
        for (std::size_t k = 0; k < masks.size(); ++k) numbers[k] = masks[k]->row(onto, item, head, i, room[k]);
        Index j = 0;
        while (j < onto.cols && is_hidden(j)) ++j;
        if (j == onto.cols) rows.push_back({item, head, i});
      }
  return rows;
}

}  // namespace mha
