// The matrices of a step.
#include "show/pages/page_parts.hpp"

#include "show/words/notation.hpp"

namespace mha::show {
namespace {

Axes axes_of_step(StepId step) {
  for (const StepId of_keys : {StepId::packed_K, StepId::packed_V, StepId::K, StepId::V, StepId::K_rot})
    if (step == of_keys) return {Axis::keys, Axis::none};
  return {Axis::queries, step >= StepId::scores && step <= StepId::weights ? Axis::keys : Axis::none};
}

}  // namespace

Axes axes_of(const Plan& plan, const Value& value) {
  if (value.gradient == Value::Gradient::row_sums) return {Axis::queries, Axis::none};
  if (value.gradient != Value::Gradient::none && plan.value(value.of).shape.rows == value.shape.rows)
    return axes_of(plan, plan.value(value.of));
  if (value.step) return axes_of_step(*value.step);
  switch (value.role) {
    case Value::Role::input:  // X_kv
    case Value::Role::cache: return {Axis::keys, Axis::none};
    case Value::Role::mask: return {value.shape.rows > 1 ? Axis::queries : Axis::none, Axis::keys};
    case Value::Role::weight:
    case Value::Role::bias:
    case Value::Role::constant:
    case Value::Role::step: return {};
  }
  return {};
}

namespace {

std::vector<std::string> shown_labels(const Problem& problem, Axis axis, Index item, const Shown& shown, const Past* past) {
  const std::vector<std::string>& all = labels_of(problem, axis, item);
  const Index before = past == nullptr ? 0 : axis == Axis::keys ? past->dropped : past->tokens;
  const Index size = static_cast<Index>(all.size());
  std::vector<std::string> labels;
  if (past == nullptr ? size != shown.size : size < before + shown.size) return labels;
  for (Index i = 0; i < shown.count(); ++i) labels.push_back(all[static_cast<std::size_t>(before + shown.place(i))]);
  return labels;
}

// `past`: of new rows.
void add_labels(Matrix& matrix, const Problem& problem, Axes axes, Index item, const Past* past = nullptr) {
  matrix.row_labels = shown_labels(problem, axes.rows, item, matrix.rows, past);
  matrix.column_labels = shown_labels(problem, axes.columns, item, matrix.columns, past);
}

// Shades, marks of hidden entries, and row sums.
void add_weights(const View& view, Matrix& matrix) {
  for (Index i = 0; i < view.shown_rows().count(); ++i) {
    const Index row = view.shown_rows().place(i);
    double sum = 0;
    for (Index j = 0; j < view.columns(); ++j) sum += view.at(row, j);
    matrix.row_sums.push_back(view.style().text(sum));
    for (Index j = 0; j < view.shown_columns().count(); ++j) {
      Cell& cell = matrix.cells[static_cast<std::size_t>(i * view.shown_columns().count() + j)];
      const double weight = view.at(row, view.shown_columns().place(j));
      cell.shade = static_cast<float>(weight);
      if (weight == 0) cell.mark = Cell::Mark::hidden;
    }
  }
}

void mark_new_rows(Index old, Matrix& matrix) {
  for (std::size_t i = 0; i < matrix.cells.size(); ++i)
    if (matrix.rows.place(static_cast<Index>(i) / matrix.columns.count()) >= old) matrix.cells[i].mark = Cell::Mark::worked;
}

void mark_hidden(const View& view, Matrix& matrix) {
  for (Index i = 0; i < view.shown_rows().count(); ++i)
    for (Index j = 0; j < view.shown_columns().count(); ++j)
      if (view.at(view.shown_rows().place(i), view.shown_columns().place(j)) == minus_infinity)
        matrix.cells[static_cast<std::size_t>(i * view.shown_columns().count() + j)].mark = Cell::Mark::hidden;
}

// Where one of the shown rows or columns stands among them.
std::optional<Index> shown_index(const Shown& shown, Index place) {
  for (Index i = 0; i < shown.count(); ++i)
    if (shown.place(i) == place) return i;
  return std::nullopt;
}

void mark_worked(Matrix& matrix, EntryAt at) {
  const std::optional<Index> row = shown_index(matrix.rows, at.row), column = shown_index(matrix.columns, at.column);
  if (row && column)
    matrix.cells[static_cast<std::size_t>(*row * matrix.columns.count() + *column)].mark = Cell::Mark::worked;
}

// The heads of which a matrix of all heads consists: `part` is the value that one of them becomes or was.
std::vector<ColumnGroup> head_groups(const Scene& scene, ValueId part, Place place) {
  const Shape& shape = scene.plan.value(part).shape;
  std::vector<ColumnGroup> groups;
  if (shape.heads == 1) return groups;
  for (Index own = 0; own < shape.heads; ++own)
    groups.push_back({symbol(scene, part, place_of_head(scene, part, place.item, own)), shape.cols});
  return groups;
}

Sources exact_numbers(const Scene& scene, ValueId id, Place place) {
  const View view = *View::of(scene, id, place);
  const bool in_f32 = scene.trace.dtype == Dtype::f32 && scene.plan.value(id).role == Value::Role::step;
  Sources sources{typed_name(scene, id, place), {}, {}, {}, cells_name_of(scene, id, place), {}, {}, part_name(scene, id)};
  for (Index row = 0; row < view.shown_rows().count(); ++row)
    for (Index column = 0; column < view.shown_columns().count(); ++column) {
      const double number = view.at(view.shown_rows().place(row), view.shown_columns().place(column));
      sources.exact.push_back(in_f32 ? fmt::format("{}", static_cast<float>(number)) : full_text(number));
    }
  return sources;
}

// A row of a cache is one that this step of decoding or an earlier one computed.
void add_origins(const Scene& scene, ValueId id, Place place, const View& view, Sources& sources) {
  const ValueId newest = scene.plan.value(id).newest;
  const std::vector<Index>& parts = scene.options.parts;
  for (Index i = 0; i < view.shown_rows().count(); ++i)
    for (Index j = 0; j < view.shown_columns().count(); ++j) {
      const Index token = scene.past().dropped + view.shown_rows().place(i), column = view.shown_columns().place(j);
      const auto next = std::upper_bound(parts.begin(), parts.end(), token);
      const auto part = static_cast<std::size_t>(next - parts.begin()) - 1;
      const Index row = scene.counted(token - parts[part]);
      const std::string from = fmt::format("{}{}[{},{}]", part_name(scene, newest, part), symbol(scene, newest, place), row,
                                           scene.counted(column));
      sources.works.push_back({from, {{"=", from, {}}, {"=", view.text(view.shown_rows().place(i), column), {}}}});
      sources.reads.push_back({{typed_name(scene, newest, place, part), row, scene.counted(column)}});
    }
}

class EquationBuilder {
 public:
  EquationBuilder(const Scene& scene, const Step& step, Place place)
      : scene_(scene), step_(step), place_(place), info_(info_of(step.op)) {}

  std::optional<Equation> build(std::optional<EntryAt> worked) {
    std::optional<Matrix> result = labelled_matrix(scene_, step_.out, place_);
    if (!result) return std::nullopt;
    if (worked) mark_worked(*result, *worked);
    result->groups = groups_of_result();
    add_operands(result->groups);
    if (!equation_.parts.empty()) add_signs_before_result();
    equation_.parts.emplace_back(std::move(*result));
    return std::move(equation_);
  }

 private:
  std::vector<ColumnGroup> groups_of_result() const {
    if (step_.arrangement != Arrangement::side_by_side) return {};
    if (step_.op == Op::merge) return head_groups(scene_, step_.in[0], place_);
    if (!is_packed(step_.id)) return {};
    for (const Step& later : scene_.plan.steps)
      if (later.op == Op::split && later.in[0] == step_.out && later.arrangement == Arrangement::side_by_side)
        return head_groups(scene_, later.out, place_);
    return {};
  }

  // Of a function, the operand that a row-wise op reads stands right above, unless that step is not on the page or others
  // stand beside it. What takes the rows of other matrices shows none: the operand is the result, cut, joined or read in
  // another way, or one matrix of each head.
  void add_operands(const std::vector<ColumnGroup>& groups) {
    const auto is_given = [this](ValueId id) { return is_given_matrix(scene_.plan.value(id)); };
    const bool any_given = std::any_of(step_.in.begin() + 1, step_.in.end(), is_given);
    const bool shows_first = !info_.sign.empty() || (info_.row_wise && (any_given || !is_on_page(step_.in[0])));
    if (step_.op == Op::difference && step_.in.size() > 2) return add_scaled_difference();
    for (std::size_t i = 0; i < step_.in.size(); ++i) {
      const bool is_apart = is_given(step_.in[i]) || (info_.row_wise && !is_on_page(step_.in[i]));
      const bool shows_other = info_.sign.empty() ? is_apart : !scaling_of(scene_, step_);
      if (i == 0 ? shows_first : shows_other) add_operand(i, groups);
    }
  }

  // A ∘ ( dA − r )
  void add_scaled_difference() {
    if (scene_.plan.value(step_.in[2]).shape.size() == 1)
      equation_.parts.emplace_back(scene_.plan.value(step_.in[2]).symbol + " · (");
    else
      add_operand(2, {}), equation_.parts.emplace_back("∘ (");
    if (std::optional<Matrix> b = labelled_matrix(scene_, step_.in[0], place_)) equation_.parts.emplace_back(std::move(*b));
    add_operand(1, {});
    equation_.parts.emplace_back(")");
  }

  bool is_on_page(ValueId id) const {
    for (const Step& step : scene_.plan.steps)
      if (step.out == id) return scene_.has(step);
    return scene_.plan.value(id).step == StepId::X && scene_.options.selection.has(StepId::X);
  }

  void add_operand(std::size_t i, const std::vector<ColumnGroup>& groups) {
    const bool turned = (i == 0 && step_.first_transposed) || (i == 1 && step_.transposed);
    const bool transposed = turned && step_.op == Op::product;
    std::optional<Matrix> matrix = labelled_matrix(scene_, step_.in[i], place_, transposed);
    if (!matrix) return;
    matrix->row_sums.clear();
    if (step_.op == Op::product && i > 0) matrix->groups = groups;
    if (!equation_.parts.empty()) equation_.parts.emplace_back(sign_before(step_, i));
    equation_.parts.emplace_back(std::move(*matrix));
  }

  void add_signs_before_result() {
    if (const std::optional<Scaling> scaling = scaling_of(scene_, step_))
      equation_.parts.emplace_back((scaling->sign == "/" ? "÷ " : "× ") + scaling->number);
    equation_.parts.emplace_back(sign_before_result(step_));
  }

  const Scene& scene_;
  const Step& step_;
  Place place_;
  OpInfo info_;
  Equation equation_;
};

}  // namespace

void add_labels(Matrix& matrix, const Problem& problem, StepId step, Index item) {
  add_labels(matrix, problem, axes_of_step(step), item);
}

std::optional<Matrix> labelled_matrix(const Scene& scene, ValueId id, Place place, bool transposed) {
  const std::optional<View> view = View::of(scene, id, place, transposed);
  if (!view) return std::nullopt;
  const Value& value = scene.plan.value(id);
  Axes axes = axes_of(scene.plan, value);
  const bool is_cache = value.role == Value::Role::cache, new_rows = !scene.plan.past.empty();
  if (new_rows && !is_cache && axes.rows == Axis::keys) axes.rows = Axis::queries;  // K and V of the new tokens
  if (transposed) std::swap(axes.rows, axes.columns);
  Matrix matrix = view->matrix(symbol(scene, id, place, transposed));
  matrix.transposed = transposed;
  if (scene.options.sources != PageOptions::Sources::none) matrix.sources = exact_numbers(scene, id, place);
  if (is_cache && matrix.sources && !scene.options.parts.empty())
    add_origins(scene, id, place, *View::of(scene, id, place), *matrix.sources);
  const Past past = scene.past();
  add_labels(matrix, scene.problem, axes, place.item, new_rows ? &past : nullptr);
  if (is_cache && !transposed) mark_new_rows(past.tokens - past.dropped, matrix);
  if (value.step == StepId::weights)
    add_weights(*view, matrix);
  else
    mark_hidden(*view, matrix);
  return matrix;
}

std::optional<Equation> equation_of(const Scene& scene, const Step& step, Place place, std::optional<EntryAt> worked) {
  return EquationBuilder(scene, step, place).build(worked);
}

}  // namespace mha::show
