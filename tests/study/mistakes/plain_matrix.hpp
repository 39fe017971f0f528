// A matrix and its few operations in plain loops: what the independent simulations of attention are written in.
#pragma once

#include "folders.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/tensor.hpp"

namespace mha::test {

struct PlainMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<double> numbers;  // row after row

  double& at(Index i, Index j) { return numbers[static_cast<std::size_t>(i * cols + j)]; }
  double at(Index i, Index j) const { return numbers[static_cast<std::size_t>(i * cols + j)]; }
  bool empty() const { return numbers.empty(); }
};

using PlainHeads = std::vector<PlainMatrix>;  // one matrix for each head

// The matrix whose entry in row i and column j is entry(i, j).
template <typename Entry>
PlainMatrix build(Index rows, Index cols, Entry entry) {
  PlainMatrix result{rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols))};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) result.at(i, j) = entry(i, j);
  return result;
}

template <typename Function>
PlainMatrix each_entry(PlainMatrix matrix, Function function) {
  for (double& number : matrix.numbers) number = function(number);
  return matrix;
}

template <typename Function>
PlainHeads each_head(const PlainHeads& heads, Function function) {
  PlainHeads result;
  for (const PlainMatrix& head : heads) result.push_back(function(head));
  return result;
}

inline PlainMatrix times(const PlainMatrix& a, const PlainMatrix& b) {
  return build(a.rows, b.cols, [&](Index i, Index j) {
    double sum = 0;
    for (Index k = 0; k < a.cols; ++k) sum += a.at(i, k) * b.at(k, j);
    return sum;
  });
}

inline PlainMatrix plus(const PlainMatrix& a, const PlainMatrix& b) {
  return build(a.rows, a.cols, [&](Index i, Index j) { return a.at(i, j) + b.at(i, j); });
}

// b is one row for all rows of a, or empty.
inline PlainMatrix plus_row(const PlainMatrix& a, const PlainMatrix& b) {
  return b.empty() ? a : build(a.rows, a.cols, [&](Index i, Index j) { return a.at(i, j) + b.at(0, j); });
}

inline PlainMatrix transposed(const PlainMatrix& a) {
  return build(a.cols, a.rows, [&](Index i, Index j) { return a.at(j, i); });
}

inline PlainMatrix columns(const PlainMatrix& a, Index first, Index count) {
  return build(a.rows, count, [&](Index i, Index j) { return a.at(i, first + j); });
}

// The same numbers in the same order under another shape.
inline PlainMatrix reread(const PlainMatrix& a, Index rows, Index cols) {
  return PlainMatrix{rows, cols, a.numbers};
}

inline PlainMatrix side_by_side(const PlainHeads& heads) {
  const Index width = heads.front().cols;
  return build(heads.front().rows, width * static_cast<Index>(heads.size()),
               [&](Index i, Index j) { return heads[static_cast<std::size_t>(j / width)].at(i, j % width); });
}

// The reverse of side_by_side.
inline PlainHeads cut(const PlainMatrix& all, Index count) {
  const Index width = all.cols / count;
  PlainHeads heads;
  for (Index head = 0; head < count; ++head) heads.push_back(columns(all, head * width, width));
  return heads;
}

// To this many decimals, a half away from zero as on paper; the nudge lets 0.285, stored as a hair less, be a half.
inline double rounded(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  const double unit = std::pow(10.0, decimals);
  const double magnitude = std::floor(std::abs(value) * unit * (1 + 1e-12) + 0.5) / unit;
  return value < 0 && magnitude != 0 ? -magnitude : magnitude;
}

}  // namespace mha::test
