// Shapes step by step; and entries by name, which follow the split and the concatenation.
#include "study/cost/shapes_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/op_rules.hpp"
#include "show/pages/page.hpp"
#include "show/words/notation.hpp"

namespace mha::study {
namespace {

constexpr Text shapes_title{"Shapes, step by step", "逐步看形状"};
constexpr Text how_shown{
    "Beside each formula the shapes for one head, below it those of PyTorch's tensors: all heads at once{}. `@` multiplies "
    "the last two axes.",
    "每个公式旁边是一个头的形状，下面是 PyTorch 张量的形状：所有头一起{}。`@` 对最后两轴做矩阵乘法。"};
constexpr Text and_items{", all items too", "，所有样本也一起"};
constexpr Text each_head{"In each of {} heads", "每个头（共 {} 个）"};
constexpr Text rest_heading{"All heads together", "各头合在一起"};
constexpr Text labels_heading{"Where the entries go", "各元素到哪里去"};
constexpr Text label_meaning{
    "{0}1 … {0}{1} are the entries of head 1, {2}1 … {2}{1} those of head {3}, row by row. Of {4}:",
    "{0}1 … {0}{1} 是头 1 的元素，{2}1 … {2}{1} 是头 {3} 的元素，逐行编号。以 {4} 为例："};
constexpr Text label_meaning_one{"{0}1 … {0}{1} are the entries of the only head, row by row. Of {2}:",
                                 "{0}1 … {0}{1} 是唯一的头的元素，逐行编号。以 {2} 为例："};
constexpr Text product_caption{"the product, {}", "乘积，{}"};
constexpr Text view_caption{"view {}: nothing moves, each row is cut into {} pieces", "view {}：元素不动，每行切成 {} 段"};
constexpr Text transpose_caption{"transpose {}: now each head is a matrix of its own",
                                 "transpose {}：现在每个头自成一个矩阵"};
constexpr Text reshape_alone{"reshape {} without the transpose: the heads are mixed up, which is wrong",
                             "只做 reshape {} 而不交换两轴：各头的元素混在一起，这是错的"};
constexpr Text back_caption{"and back: transpose {}, reshape {}", "再变回去：transpose {}，reshape {}"};
constexpr Text nothing_split{
    "Each head has weights of its own here, so that nothing is split; concatenation puts heads side by "
    "side:",
    "这里每个头有自己的权重矩阵，不需要拆分；拼接把各头并排放在一起："};
constexpr Text each_item{"Every item of the batch likewise.", "批次中的每个样本都是如此。"};
constexpr Text token_name{"token {}", "词元 {}"};

constexpr Index most_labels = 240;
constexpr Index most_label_columns = 16;

using show::Scene;

class ShapesPage {
 public:
  ShapesPage(const Problem& problem, Language language) : problem_(problem), plan_(make_plan(problem)), page_(language) {
    options_.language = language;
  }

  show::Document write(bool labels) {
    page_.title(shapes_title, problem_.title);
    page_.paragraph(how_shown, problem_.batched ? page_.say(and_items) : "");
    for (const Value& value : plan_.values)
      if (value.role == Value::Role::input) {
        page_.add(show::StepHeading{std::nullopt, page_.say(name_of(StepId::X).title), value.symbol,
                                    fmt::format("{}×{}", value.shape.rows, value.shape.cols)});
        page_.caption(show::Words("PyTorch: " + torch_shape(value, false)));
      }
    for (int layer = 0; layer < problem_.layer_count(); ++layer) {
      const Scene scene(problem_, plan_, nothing_, options_, layer);
      add_steps(scene);
      if (labels) add_labels(scene);
    }
    return page_.take();
  }

 private:
  // Item and head axes stand where they are; a value that serves all has none.
  std::string torch_shape(const Value& value, bool with_head_axis, bool transposed = false) const {
    std::vector<Index> axes;
    const bool given = value.role == Value::Role::weight || value.role == Value::Role::constant ||
                       value.role == Value::Role::mask || value.role == Value::Role::bias;
    if (problem_.batched && (!given || value.shape.batch > 1)) axes.push_back(value.shape.batch);
    if (value.per_head || with_head_axis) axes.push_back(value.shape.heads);
    axes.push_back(transposed ? value.shape.cols : value.shape.rows);
    axes.push_back(transposed ? value.shape.rows : value.shape.cols);
    return fmt::format("[{}]", fmt::join(axes, ","));
  }

  // The two middle axes of a split, one before the other.
  std::string between(const Shape& heads, bool heads_first) const {
    return (problem_.batched ? fmt::format("[{},", heads.batch) : "[") +
           (heads_first ? fmt::format("{},{},{}]", heads.heads, heads.rows, heads.cols)
                        : fmt::format("{},{},{}]", heads.rows, heads.heads, heads.cols));
  }

  // "[2,3,8] → view [2,3,2,4] → transpose [2,2,3,4]"
  std::string torch_text(const Step& step) const {
    const Value &first = plan_.value(step.in[0]), &result = plan_.value(step.out);
    const std::string to = torch_shape(result, false), from = torch_shape(first, false);
    if (step.op == Op::split) return fmt::format("{} → view {} → transpose {}", from, between(result.shape, false), to);
    if (step.op == Op::merge) return fmt::format("{} → transpose {} → reshape {}", from, between(first.shape, false), to);
    if (step.op != Op::product) return from == to ? to : fmt::format("{} → {}", from, to);
    const Value& second = plan_.value(step.in[1]);
    const bool item_axis = problem_.batched && result.per_head && !first.per_head;  // room for the heads of the weights
    std::string right = torch_shape(second, false, step.transposed), before;
    if (second.role == Value::Role::step && second.shape.heads < result.shape.heads) {
      Value repeated = second;  // a group's keys or values for each of its queries
      repeated.shape.heads = result.shape.heads;
      before = fmt::format("{} → repeat_interleave {}; ", right, torch_shape(repeated, false, step.transposed));
      right = torch_shape(repeated, false, step.transposed);
    }
    return fmt::format("{}{} @ {} → {}", before, torch_shape(first, item_axis), right, to);
  }

  void add_steps(const Scene& scene) {
    int number = 0;
    std::optional<bool> in_heads;
    if (scene.is_stack())
      page_.section({page_.say(show::phrase::layer_of, scene.layer + 1, problem_.layer_count())},
                    show::Section::Level::item);
    for (const Step& step : plan_.steps) {
      ++number;
      if (step.layer != scene.layer) continue;
      const bool per_head = name_of(step.id).per_head;
      if (in_heads != per_head && (per_head || in_heads))
        page_.section({per_head ? page_.say(each_head, scene.problem.heads) : page_.say(rest_heading)});
      in_heads = per_head;
      page_.add(show::StepHeading{number, page_.say(name_of(step.id).title), show::formula(scene, step, {}),
                                  show::shape_arithmetic(scene, step)});
      page_.caption(show::Words("PyTorch: " + torch_text(step)));
    }
  }

  static std::string label_of(Index head, Index place) {
    return std::string(1, static_cast<char>('a' + head)) + std::to_string(place + 1);
  }

  const Step* step_with(int layer, Op op, StepId id) const {
    for (const Step& step : plan_.steps)
      if (step.layer == layer && step.op == op && step.id == id) return &step;
    return nullptr;
  }

  // Of each entry of n×(h·d), its name: that of the entry of its head. Asked of the step that cuts or joins the heads.
  std::vector<std::string> names_of_whole(const Step& step, const Shape& heads) const {
    const bool cuts = step.op == Op::split;
    std::vector<std::string> names(static_cast<std::size_t>(heads.rows * heads.heads * heads.cols));
    const Index width = heads.heads * heads.cols;
    const auto put = [&](const Entry& whole, const Entry& own) {
      names[static_cast<std::size_t>(whole.row * width + whole.column)] =
          label_of(own.head, own.row * heads.cols + own.column);
    };
    const Shape& to = plan_.value(step.out).shape;
    for (Entry entry; entry.head < to.heads; ++entry.head)
      for (entry.row = 0; entry.row < to.rows; ++entry.row)
        for (entry.column = 0; entry.column < to.cols; ++entry.column)
          for_each_term(plan_, step, entry, [&](const Term& term) {
            const Entry& read = term.factors[0].at;
            cuts ? put(read, entry) : put(entry, read);
          });
    return names;
  }

  static show::Matrix matrix_of(std::string symbol, Index rows, Index cols, const std::vector<std::string>& names,
                                Index first = 0) {
    show::Matrix matrix{std::move(symbol), {rows, rows, 0}, {cols, cols, 0}, {}, {}, {}, {}, {}};
    for (Index i = 0; i < rows * cols; ++i) matrix.cells.push_back({names[static_cast<std::size_t>(first + i)]});
    return matrix;
  }

  // `count` matrices that follow each other in the order of the names.
  void add_matrices(const Text& symbol, Index count, Index rows, Index cols, const std::vector<std::string>& names) {
    show::Equation equation;
    for (Index i = 0; i < count; ++i) {
      if (i > 0) equation.parts.emplace_back(" ");
      equation.parts.emplace_back(matrix_of(page_.say(symbol, i + 1), rows, cols, names, i * rows * cols));
    }
    page_.add(std::move(equation));
  }

  void add_labels(const Scene& scene) {
    const Step *cut = step_with(scene.layer, Op::split, StepId::Q),
               *join = step_with(scene.layer, Op::merge, StepId::concat);
    const Shape shape = plan_.value(cut != nullptr ? cut->out : join->in[0]).shape;
    if (shape.heads > 26 || shape.heads * shape.cols > most_label_columns ||
        shape.rows * shape.heads * shape.cols > most_labels)
      throw Error(
          fmt::format("--labels names each entry, and a matrix of {}×{} is too large to look at; {} columns and {} "
                      "entries at most, such as --d-model 8 --heads 2 --tokens 3",
                      shape.rows, shape.heads * shape.cols, most_label_columns, most_labels));
    page_.section({page_.say(labels_heading)});
    const Index each = shape.rows * shape.cols;
    const std::string symbol = cut != nullptr ? "Q" : "head", first = "a", last = label_of(shape.heads - 1, 0).substr(0, 1);
    if (shape.heads > 1)
      page_.paragraph(label_meaning, first, each, last, shape.heads, symbol);
    else
      page_.paragraph(label_meaning_one, first, each, symbol);
    if (cut != nullptr)
      add_split(*cut, shape);
    else
      page_.paragraph(nothing_split);
    add_join(*join, shape, cut != nullptr);
    if (problem_.batched) page_.paragraph(each_item);
  }

  std::vector<std::string> names_by_head(const Shape& shape) const {
    std::vector<std::string> names;
    for (Index head = 0; head < shape.heads; ++head)
      for (Index place = 0; place < shape.rows * shape.cols; ++place) names.push_back(label_of(head, place));
    return names;
  }

  void add_split(const Step& cut, const Shape& shape) {
    const std::vector<std::string> whole = names_of_whole(cut, shape), by_head = names_by_head(shape);
    page_.caption(product_caption, torch_shape(plan_.value(cut.in[0]), false));
    page_.add(show::Equation{{matrix_of("Q", shape.rows, shape.heads * shape.cols, whole)}});
    page_.caption(view_caption, between(shape, false), shape.heads);
    add_matrices(token_name, shape.rows, shape.heads, shape.cols, whole);
    page_.caption(transpose_caption, between(shape, true));
    add_matrices(head_name, shape.heads, shape.rows, shape.cols, by_head);
    if (shape.heads == 1) return;
    page_.caption(reshape_alone, between(shape, true));
    add_matrices(head_name, shape.heads, shape.rows, shape.cols, whole);
  }

  void add_join(const Step& join, const Shape& of_queries, bool split) {
    const Shape shape = plan_.value(join.in[0]).shape;
    if (split && shape.cols != of_queries.cols) return;  // d_v has names of its own
    if (!split) add_matrices(head_name, shape.heads, shape.rows, shape.cols, names_by_head(shape));
    page_.caption(back_caption, between(shape, false), torch_shape(plan_.value(join.out), false));
    page_.add(show::Equation{{matrix_of("Concat", shape.rows, shape.heads * shape.cols, names_of_whole(join, shape))}});
  }

  static constexpr Text head_name{"head {}", "头 {}"};

  const Problem& problem_;
  Plan plan_;
  Trace nothing_;
  show::PageBuilder page_;
  show::PageOptions options_;
};

}  // namespace

show::Document shapes_page(const Problem& problem, bool labels, Language language) {
  return ShapesPage(problem, language).write(labels);
}

}  // namespace mha::study
