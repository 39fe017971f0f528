// Two computations held side by side.
#include "study/compare/compare.hpp"

namespace mha::study {
namespace {

void compare_numbers(const Tensor& left, const Tensor& right, ComparedMatrix& result) {
  for (Index i = 0; i < left.shape().rows; ++i)
    for (Index j = 0; j < left.shape().cols; ++j) {
      const double d = difference(left.at(result.item, result.head, i, j), right.at(result.item, result.head, i, j));
      if (d <= result.largest) continue;
      result.verdict = MatrixVerdict::different;
      result.largest = d;
      result.row = i;
      result.column = j;
    }
}

bool has(const Tensor* tensor, Index item, Index head) {
  return tensor != nullptr && item < tensor->shape().batch && head < tensor->shape().heads;
}

ComparedMatrix compared(const LayerStep& step, const Tensor* left, const Tensor* right, Index item, Index head) {
  ComparedMatrix result{step};
  result.item = item;
  result.head = head;
  if (!has(right, item, head)) {
    result.verdict = MatrixVerdict::left_only;
  } else if (!has(left, item, head)) {
    result.verdict = MatrixVerdict::right_only;
  } else if (left->shape().rows != right->shape().rows || left->shape().cols != right->shape().cols) {
    result.verdict = MatrixVerdict::other_shape;
  } else {
    compare_numbers(*left, *right, result);
  }
  return result;
}

}  // namespace

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b);
  if (!std::isfinite(d)) return std::numeric_limits<double>::infinity();
  return d <= same_number * std::max({1.0, std::abs(a), std::abs(b)}) ? 0 : d;
}

Comparison compare(const std::vector<Written>& left, const std::vector<Written>& right) {
  const std::size_t layers = std::max(left.size(), right.size());
  Comparison comparison;
  for (std::size_t i = 0; i < layers * row_count; ++i) {
    const std::size_t layer = i / row_count, step = i % row_count;
    const LayerStep place{layers > 1 ? std::optional(static_cast<int>(layer)) : std::nullopt, static_cast<StepId>(step)};
    if (layer > 0 && (place.step == StepId::X || place.step == StepId::d_X)) continue;  // of another layer
    const Tensor* a = layer < left.size() ? left[layer][step].get() : nullptr;
    const Tensor* b = layer < right.size() ? right[layer][step].get() : nullptr;
    const auto most = [a, b](Index Shape::*axis) {
      return std::max(a == nullptr ? 0 : a->shape().*axis, b == nullptr ? 0 : b->shape().*axis);
    };
    for (Index item = 0; item < most(&Shape::batch); ++item)
      for (Index head = 0; head < most(&Shape::heads); ++head) {
        const ComparedMatrix matrix = compared(place, a, b, item, head);
        const bool differs = matrix.verdict == MatrixVerdict::different || matrix.verdict == MatrixVerdict::other_shape;
        if (differs && !comparison.first) comparison.first = comparison.matrices.size();
        comparison.matrices.push_back(matrix);
      }
  }
  return comparison;
}

}  // namespace mha::study
