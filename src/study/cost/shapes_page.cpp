// Shapes step by step; and entries by name, which follow the split and the concatenation.
#include "study/cost/cost.hpp"

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "show/pages/page.hpp"
#include "show/words/notation.hpp"
#include "study/cost/sizes.hpp"

namespace mha::study {
namespace {

constexpr Text how_shown{
    "Beside each formula the shapes for one head, below it those of PyTorch's tensors: all heads at once, all items of a "
    "batch too. `@` multiplies the last two axes.",
    "每个公式旁边是一个头的形状，下面是 PyTorch 张量的形状：所有头一起，批次中的所有样本也一起。`@` "
    "对最后两轴做矩阵乘法。"};
constexpr Text in_each_head{"In each of {} heads", "每个头（共 {} 个）"};
constexpr Text in_one_head{"In the one head", "唯一的头"};
constexpr Text label_meaning{
    "{0}1 … {0}{1} are the entries of Q in head 1, {2}1 … {2}{1} those in head {3}, row by row; in every item likewise.",
    "{0}1 … {0}{1} 是 Q 在头 1 中的元素，{2}1 … {2}{1} 是头 {3} 中的元素，逐行编号；每个样本都是如此。"};
constexpr Text view_caption{"view {}: nothing moves, each row is cut into {} pieces", "view {}：元素不动，每行切成 {} 段"};
constexpr Text reshape_alone{"reshape {} without the transpose: the heads are mixed up, which is wrong",
                             "只做 reshape {} 而不交换两轴：各头的元素混在一起，这是错的"};
constexpr Text head_name{"head {}", "头 {}"};

constexpr Index most_labels = 240;
constexpr Index most_label_columns = 16;

class ShapesPage {
 public:
  ShapesPage(const Problem& problem, Language language) : problem_(problem), plan_(make_plan(problem)), page_(language) {
    options_.language = language;
    page_.title({"Shapes, step by step", "逐步看形状"}, problem_.title);
  }

  show::Document write() {
    page_.paragraph(how_shown);
    for (const Value& value : plan_.values)
      if (value.role == Value::Role::input)
        add(std::nullopt, StepId::X, value.symbol, fmt::format("{}×{}", value.shape.rows, value.shape.cols),
            axes_of(value));
    for (int layer = 0; layer < problem_.layer_count(); ++layer)
      add_steps(show::Scene(problem_, plan_, nothing_, options_, layer));
    return page_.take();
  }

  // Of Q in the first layer.
  show::Document write_labels() {
    add_labels(*plan_.writer_of(*plan_.find(StepId::Q)));
    return page_.take();
  }

 private:
  std::string axes(Index batch, std::vector<Index> others) const {
    if (batch > 0) others.insert(others.begin(), batch);
    return fmt::format("[{}]", fmt::join(others, ","));
  }

  // Weights and constants have no item axis unless they differ; `heads` 0: no head axis.
  std::string axes_of(const Value& value, bool transposed, Index heads) const {
    const bool items = value.role == Value::Role::step || value.role == Value::Role::input;
    std::vector<Index> others{value.shape.rows, value.shape.cols};
    if (transposed) std::swap(others[0], others[1]);
    if (heads > 0) others.insert(others.begin(), heads);
    return axes(problem_.batched && items ? value.shape.batch : 0, std::move(others));
  }
  std::string axes_of(const Value& value, bool transposed = false) const {
    return axes_of(value, transposed, value.per_head ? value.shape.heads : 0);
  }

  // Before the two middle axes are swapped.
  std::string view_of(const Shape& heads) const {
    return axes(problem_.batched ? heads.batch : 0, {heads.rows, heads.heads, heads.cols});
  }

  // "[2,3,8] → view [2,3,2,4] → transpose [2,2,3,4]"
  std::string torch_text(const Step& step) const {
    const Value &first = plan_.value(step.in[0]), &result = plan_.value(step.out);
    const std::string from = axes_of(first), to = axes_of(result);
    if (step.op == Op::split) return fmt::format("{} → view {} → transpose {}", from, view_of(result.shape), to);
    if (step.op == Op::merge) return fmt::format("{} → transpose {} → reshape {}", from, view_of(first.shape), to);
    if (step.op != Op::product) return from == to ? to : fmt::format("{} → {}", from, to);
    const Value& second = plan_.value(step.in[1]);
    std::string right = axes_of(second, step.transposed), before;
    if (second.role == Value::Role::step &&
        second.shape.heads < result.shape.heads) {  // a group's, for each of its queries
      before = right + " → repeat_interleave ";
      right = axes_of(second, step.transposed, result.shape.heads);
      before += right + "; ";
    }
    const bool own_weights = problem_.batched && result.per_head && !first.per_head;
    return before + (own_weights ? axes_of(first, false, 1) : from) + " @ " + right + " → " + to;
  }

  void add(std::optional<int> number, StepId id, std::string formula, std::string shapes, const std::string& torch) {
    page_.add(show::StepHeading{number, page_.say(name_of(id).title), std::move(formula), std::move(shapes)});
    page_.caption(show::Words("PyTorch: " + torch));
  }

  void add_steps(const show::Scene& scene) {
    if (scene.is_stack())
      page_.section({page_.say(show::phrase::layer_of, scene.layer + 1, problem_.layer_count())},
                    show::Section::Level::item);
    bool in_heads = false;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.layer != scene.layer) continue;
      if (name_of(step.id).per_head != in_heads)
        page_.section({in_heads ? page_.say(show::phrase::heads_together)
                                : page_.say(scene.problem.heads == 1 ? in_one_head : in_each_head, scene.problem.heads)});
      in_heads = name_of(step.id).per_head;
      add(static_cast<int>(i) + 1, step.id, show::formula(scene, step, {}), show::shape_arithmetic(scene, step),
          torch_text(step));
    }
  }

  // `count` matrices that follow each other in the order of the names.
  void add_matrices(const Text& name, Index count, Index rows, Index cols, const std::vector<std::string>& names) {
    show::Equation equation;
    for (Index i = 0; i < count; ++i) {
      show::Matrix matrix{page_.say(name, i + 1), {rows, rows, 0}, {cols, cols, 0}, {}, {}, {}, {}, {}};
      for (Index k = 0; k < rows * cols; ++k)
        matrix.cells.push_back({names[static_cast<std::size_t>(i * rows * cols + k)], show::Cell::Mark::none, -1});
      if (i > 0) equation.parts.emplace_back(" ");
      equation.parts.emplace_back(std::move(matrix));
    }
    page_.add(std::move(equation));
  }

  void add_labels(const Step& split) {
    const Shape& to = plan_.value(split.out).shape;
    const Index width = to.heads * to.cols, each = to.rows * to.cols;
    if (width > most_label_columns || to.heads * each > most_labels)
      throw Error(
          {"--labels names each entry, and {}×{} are too many to look at; {} columns and {} entries at most, such as "
           "--d-model 8 --heads 2 --tokens 3",
           "--labels 给每个元素起名，{}×{} 太多，看不清；最多 {} 列、{} 个元素，例如 --d-model 8 --heads 2 --tokens 3"},
          to.rows, width, most_label_columns, most_labels);
    std::vector<std::string> by_head, whole(static_cast<std::size_t>(to.heads * each));
    for (Index head = 0; head < to.heads; ++head)
      for (Index i = 0; i < each; ++i) {
        by_head.push_back(fmt::format("{}{}", static_cast<char>('a' + head), i + 1));
        const Index column = column_of(split.arrangement, head, to.heads, i % to.cols, to.cols);
        whole[static_cast<std::size_t>(i / to.cols * width + column)] = by_head.back();
      }
    const std::string all = axes_of(plan_.value(split.in[0])), heads = axes_of(plan_.value(split.out));
    page_.section({page_.say({"Where the entries go", "各元素到哪里去"})});
    page_.paragraph(label_meaning, "a", each, static_cast<char>('a' + to.heads - 1), to.heads);
    page_.caption({"the product, {}", "乘积，{}"}, all);
    add_matrices({"Q", "Q"}, 1, to.rows, width, whole);
    page_.caption(view_caption, view_of(to), to.heads);
    add_matrices(Text{"token {}", "词元 {}"}, to.rows, to.heads, to.cols, whole);
    page_.caption({"transpose {}: now each head is a matrix of its own", "transpose {}：现在每个头自成一个矩阵"}, heads);
    add_matrices(head_name, to.heads, to.rows, to.cols, by_head);
    page_.caption(reshape_alone, heads);
    add_matrices(head_name, to.heads, to.rows, to.cols, whole);
    page_.caption({"and back: transpose {}, reshape {}", "再变回去：transpose {}，reshape {}"}, view_of(to), all);
    add_matrices({"Concat", "Concat"}, 1, to.rows, width, whole);
  }

  const Problem& problem_;
  Plan plan_;
  Trace nothing_;
  show::PageBuilder page_;
  show::PageOptions options_;
};

// All heads in one matrix, as code that splits has them.
Problem packed(const Problem& problem) {
  Problem result = problem.layer(0);
  Sizes widths;  // told, since d_k() of a packed matrix divides its columns by the heads
  widths.d_k = result.d_k();
  widths.d_v = result.d_v();
  result.packed = true;
  result.title = problem.title;
  return shaped(result, widths);
}

}  // namespace

show::Document shapes_page(const Problem& problem, bool labels, Language language) {
  if (!labels) return ShapesPage(problem, language).write();
  const Problem all_heads = packed(problem);
  return ShapesPage(all_heads, language).write_labels();
}

}  // namespace mha::study
