// One matrix of an uncertain value, as the matrix of a result reads it.
#pragma once

#include <cmath>

#include "study/check/tolerance.hpp"

namespace mha::study {

class Operand {
 public:
  // The matrix that serves this item and head of a result; one row or column serves all.
  Operand(const Uncertain& value, const Shape& onto, Index item, Index head) {
    const Shape& shape = value.numbers->shape();
    const Index own_item = broadcast(item, shape.batch, onto.batch), own_head = broadcast(head, shape.heads, onto.heads);
    numbers_ = value.numbers->matrix(own_item, own_head);
    radii_ = value.radius ? value.radius->matrix(own_item, own_head) : nullptr;
    row_stride_ = shape.rows == 1 ? 0 : shape.cols;
    col_stride_ = shape.cols == 1 ? 0 : 1;
  }

  double at(Index i, Index j) const { return numbers_[i * row_stride_ + j * col_stride_]; }
  double radius(Index i, Index j) const { return radii_ == nullptr ? 0 : radii_[i * row_stride_ + j * col_stride_]; }
  // Infinite entries and NaN are exact: they have no size.
  double size(Index i, Index j) const {
    const double number = at(i, j);
    return std::isfinite(number) ? std::abs(number) : 0;
  }

 private:
  const double* numbers_;
  const double* radii_;
  Index row_stride_, col_stride_;
};

}  // namespace mha::study
