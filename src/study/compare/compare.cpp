// Two computations held side by side; and as JSON: what is equal in a line each, the rest with its numbers.
#include "study/compare/compare.hpp"

#include "io/json/writer.hpp"

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

void write_side(io::JsonWriter& json, std::string_view name, const Side& side, const ComparedMatrix& matrix) {
  const Tensor& tensor = side.tensor(matrix);
  json.key(name);
  json.matrix(tensor.matrix(matrix.item, matrix.head), tensor.shape().rows, tensor.shape().cols);
}

void write_compared(io::JsonWriter& json, const ComparedMatrix& matrix, const Side& left, const Side& right) {
  const bool equal = matrix.verdict == MatrixVerdict::equal;
  const Side& any = matrix.verdict == MatrixVerdict::right_only ? right : left;
  json.begin_object(equal ? io::Spread::line : io::Spread::lines);
  if (matrix.own_layer()) json.integer("layer", *matrix.layer + 1);
  json.text("step", name_of(matrix.step).id);
  if (name_of(matrix.step).per_head) json.integer("head", matrix.head + 1);
  if (any.tensor(matrix).shape().batch > 1) json.integer("item", matrix.item + 1);
  json.boolean("equal", equal);
  if (matrix.verdict == MatrixVerdict::different) {
    json.number("largest_difference", matrix.largest);  // "inf" where one of the two is NaN or infinite alone
    json.integer("row", matrix.row + 1);
    json.integer("column", matrix.column + 1);
  }
  if (!equal && matrix.verdict != MatrixVerdict::right_only) write_side(json, "left", left, matrix);
  if (!equal && matrix.verdict != MatrixVerdict::left_only) write_side(json, "right", right, matrix);
  json.end();
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

void write_comparison_json(io::Sink& sink, const Comparison& comparison, const Side& left, const Side& right,
                           const MadeOf& made, const Selection& selection) {
  io::JsonWriter json(sink);
  json.begin_file("mha-compare");
  json.text("left", left.name.plain());
  json.text("right", right.name.plain());
  if (made) json.text(made->first, made->second);
  for (const HeadRow& row : right.rows) {
    json.begin_array(row.key);
    for (Index item = 0; item < left.computed.problems.front().batch(); ++item)
      for (std::size_t i = 0; i + 1 < row.matrices.size(); ++i)
        json.matrix(row.matrices[i]->matrix(item, 0), row.matrices[i]->shape().rows, row.matrices[i]->shape().cols);
    json.end();
  }
  json.begin_array("steps");
  for (const ComparedMatrix& matrix : comparison.matrices)
    if (matrix.is_chosen(selection)) write_compared(json, matrix, left, right);
  json.finish();
}

}  // namespace mha::study
