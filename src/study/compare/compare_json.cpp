// A comparison as JSON: what is equal in a line each, the rest with its numbers.
#include "study/compare/compare.hpp"

#include "io/json/writer.hpp"

namespace mha::study {
namespace {

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
