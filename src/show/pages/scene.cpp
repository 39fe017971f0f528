// What every part of a description looks at: names of queries and keys, values as matrices.
#include "show/pages/scene.hpp"

#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

Words named(const Scene& scene, const Text& phrase, Axis axis, Index item, Index i) {
  i += axis == Axis::keys ? scene.past().dropped : scene.past().tokens;
  Words words(say(scene.options.language, phrase, scene.counted(i)));
  const std::vector<std::string>& labels = labels_of(scene.problem, axis, item);
  if (static_cast<std::size_t>(i) >= labels.size()) return words;
  return words.append(
      say_words(scene.options.language, phrase::in_parentheses, {Words().quote(labels[static_cast<std::size_t>(i)])}));
}

std::vector<Row> keyless_rows(const Scene& scene) {
  std::vector<const Tensor*> masks;
  for (const Value& value : scene.plan.values)
    if (value.role == Value::Role::mask && value.layer == scene.layer) masks.push_back(value.constant.get());
  const Problem& problem = scene.problem;
  Shape onto{problem.batch(), problem.heads, problem.queries(), problem.keys()};
  if (!scene.plan.past.empty()) {
    onto.rows = scene.plan.values.front().shape.rows;  // of X
    onto.cols = scene.past().tokens - scene.past().dropped + onto.rows;
  }
  return rows_without_key(onto, masks);
}

// As NumPy prints: beyond so many entries, only the first and last three of each long axis.
constexpr Index most_entries = 1000;
constexpr Index edge = 3;

Shown shown_of(Index size, Index entries, bool full) {
  const bool whole = full || entries <= most_entries || size <= 2 * edge;
  return whole ? Shown{size, size, 0} : Shown{size, edge, edge};
}

NumberStyle::Origin origin_of(Value::Role role) {
  const bool computed = role == Value::Role::step || role == Value::Role::cache;
  return computed ? NumberStyle::Origin::computed : NumberStyle::Origin::given;
}

}  // namespace

Scene::Scene(const Problem& of_problem, const Plan& of_plan, const Trace& of_trace, const PageOptions& with_options,
             int of_layer)
    : whole(of_problem),
      layer(of_layer),
      problem(of_problem.layer(of_layer)),
      plan(of_plan),
      trace(of_trace),
      options(with_options) {}

const std::vector<Row>& Scene::keyless() const {
  if (!keyless_) keyless_ = keyless_rows(*this);
  return *keyless_;
}

Scenes scenes_of(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  Scenes layers;
  for (int layer = 0; layer < problem.layer_count(); ++layer) layers.emplace_back(problem, plan, trace, options, layer);
  return layers;
}

const Scene& scene_of(const Scenes& layers, ValueId id) {
  return layers[static_cast<std::size_t>(layers.front().plan.value(id).layer)];
}

bool is_given_matrix(const Value& value) {
  return value.constant != nullptr && value.role != Value::Role::constant;
}

bool is_one_row_for_all(const Plan& plan, const Value& value) {
  if (value.gradient == Value::Gradient::whole) return is_one_row_for_all(plan, plan.value(value.of));
  return value.shape.rows == 1 && (value.role == Value::Role::bias || value.role == Value::Role::mask);
}

Index position_of_row(const Scene& scene, const Step& rotation, Index row) {
  const Rope& rope = *scene.problem.rope;
  row += scene.past().tokens;
  return rotation.id == StepId::Q_rot ? rope.query_position(row) : rope.key_position(row, scene.problem.X_kv.has_value());
}

const std::vector<std::string>& labels_of(const Problem& problem, Axis axis, Index item) {
  static const std::vector<std::string> nothing;
  const Labels& labels = axis == Axis::keys && problem.X_kv ? problem.tokens_kv : problem.tokens;
  if (axis == Axis::none || labels.empty()) return nothing;
  return labels.size() == 1 ? labels.front() : labels[static_cast<std::size_t>(item)];
}

Words query_name(const Scene& scene, Index item, Index query) {
  return named(scene, Text{"query {}", "查询 {}"}, Axis::queries, item, query);
}

Words key_name(const Scene& scene, Index item, Index key) {
  return named(scene, Text{"key {}", "键 {}"}, Axis::keys, item, key);
}

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
  const Index entries =
      (is_one_row_for_all(scene.plan, value) ? scene.problem.queries() : value.shape.rows) * value.shape.cols;
  return View(*tensor, broadcast(place.item, tensor->shape().batch, scene.problem.batch()),
              broadcast(place.head, tensor->shape().heads, scene.problem.heads),
              {scene.options.precision, origin_of(value.role)}, scene.options.full, transposed, entries);
}

View::View(const Tensor& tensor, Index item, Index head, NumberStyle style, bool full, bool transposed,
           std::optional<Index> entries)
    : tensor_(&tensor), item_(item), head_(head), transposed_(transposed), style_(style) {
  const Shape& shape = tensor.shape();
  const Index count = entries.value_or(shape.rows * shape.cols);
  rows_ = shown_of(transposed ? shape.cols : shape.rows, count, full);
  columns_ = shown_of(transposed ? shape.rows : shape.cols, count, full);
  for (Index row = 0; row < rows_.count(); ++row)
    for (Index column = 0; column < columns_.count(); ++column) style_.see(at(rows_.place(row), columns_.place(column)));
}

double View::at(Index row, Index column) const {
  return transposed_ ? tensor_->at(item_, head_, column, row) : tensor_->at(item_, head_, row, column);
}

Matrix View::matrix(std::string symbol) const {
  Matrix matrix;
  matrix.symbol = std::move(symbol);
  matrix.rows = rows_;
  matrix.columns = columns_;
  matrix.cells.reserve(static_cast<std::size_t>(rows_.count() * columns_.count()));
  for (Index row = 0; row < rows_.count(); ++row)
    for (Index column = 0; column < columns_.count(); ++column)
      matrix.cells.push_back({text(rows_.place(row), columns_.place(column)), Cell::Mark::none, -1});
  return matrix;
}

}  // namespace mha::show
