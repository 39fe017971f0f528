// A value of the computation as one matrix of the page.
#include "show/pages/view.hpp"

#include "show/words/notation.hpp"

namespace mha::show {
namespace {

// As NumPy prints: beyond so many entries, only the first and last three of each long axis.
constexpr Index most_entries = 1000;
constexpr Index edge = 3;

Shown shown_of(Index size, Index entries, bool full) {
  const bool whole = full || entries <= most_entries || size <= 2 * edge;
  return whole ? Shown{size, size, 0} : Shown{size, edge, edge};
}

NumberStyle::Origin origin_of(Value::Role role) {
  return role == Value::Role::step ? NumberStyle::Origin::computed : NumberStyle::Origin::given;
}

}  // namespace

const Tensor* numbers_of(const Scene& scene, ValueId id) {
  const Value& value = scene.plan.value(id);
  return value.constant ? value.constant.get() : scene.trace.value(id);
}

double number_at(const Scene& scene, ValueId id, Place place, EntryAt at) {
  const Tensor& tensor = *numbers_of(scene, id);
  return tensor.at(broadcast(place.item, tensor.shape().batch, scene.problem.batch()), own_head(scene, id, place.head),
                   at.row, at.column);
}

std::optional<View> View::of(const Scene& scene, ValueId id, Place place, bool transposed) {
  const Value& value = scene.plan.value(id);
  const Tensor* tensor = numbers_of(scene, id);
  if (tensor == nullptr) return std::nullopt;
  // A row that is added to every row of a matrix is shown as that matrix is.
  const Index entries = (is_one_row_for_all(value) ? scene.problem.queries() : value.shape.rows) * value.shape.cols;
  return View(*tensor, broadcast(place.item, tensor->shape().batch, scene.problem.batch()),
              broadcast(place.head, tensor->shape().heads, scene.problem.heads), transposed, entries, scene.options,
              origin_of(value.role));
}

View::View(const Tensor& tensor, Index batch, Index head, bool transposed, Index entries, const PageOptions& options,
           NumberStyle::Origin origin)
    : tensor_(&tensor), batch_(batch), head_(head), transposed_(transposed), style_(options.precision, origin) {
  const Shape& shape = tensor.shape();
  rows_ = shown_of(transposed ? shape.cols : shape.rows, entries, options.full);
  columns_ = shown_of(transposed ? shape.rows : shape.cols, entries, options.full);
  for (Index row = 0; row < rows_.count(); ++row)
    for (Index column = 0; column < columns_.count(); ++column) style_.see(at(rows_.place(row), columns_.place(column)));
}

double View::at(Index row, Index column) const {
  return transposed_ ? tensor_->at(batch_, head_, column, row) : tensor_->at(batch_, head_, row, column);
}

Matrix View::matrix() const {
  Matrix matrix;
  matrix.rows = rows_;
  matrix.columns = columns_;
  matrix.cells.reserve(static_cast<std::size_t>(rows_.count() * columns_.count()));
  for (Index row = 0; row < rows_.count(); ++row)
    for (Index column = 0; column < columns_.count(); ++column)
      matrix.cells.push_back({text(rows_.place(row), columns_.place(column)), Cell::Mark::none, -1});
  return matrix;
}

}  // namespace mha::show
