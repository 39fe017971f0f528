// What belongs to an exercise: the page of a run before it is run, headings, formulas and given matrices, and blank
// matrices for the results; the empty answer and the mistakes as JSON, in the nested form of a trace.
#include <fmt/format.h>

#include "core/gradient.hpp"
#include "io/problem/problem_writer.hpp"
#include "show/pages/page.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"
#include "study/exercise/exercise.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr Text task{
    "Fill in every matrix, from top to bottom. Round each entry to {} and go on with the rounded numbers. Every "
    "formula has its shapes beside it.",
    "从上到下填写每个矩阵。每个元素四舍五入到 {}，并用舍入后的数继续往下算。每个公式旁注有形状。"};
// By where it is filled in.
constexpr std::array how_to_check = {
    Text{"To have it checked, put the numbers into answer.json in place of null, \"-inf\" for −∞, and run the line below. "
         "Each step is judged from your own numbers before it, so one slip does not spoil what follows.",
         "检查答卷：把数填入 answer.json，替换其中的 null（−∞ 写作 \"-inf\"），然后运行下面这一行。"
         "每一步都按你自己前面的数来判断，一处计算失误不会连累后面的步骤。"},
    Text{"Write a matrix in place of the dots of each step, −∞ as -np.inf, and run the last cell, which has it checked. "
         "Each "
         "step is judged from your own numbers before it, so one slip does not spoil what follows.",
         "把每一步的省略号换成矩阵（−∞ 写作 -np.inf），然后运行最后一格进行检查。"
         "每一步都按你自己前面的数来判断，一处计算失误不会连累后面的步骤。"},
    Text{"Fill in the empty cells, −∞ as -inf; to have them checked, run the line below. Each step is judged from your own "
         "numbers before it, so one slip does not spoil what follows.",
         "填写空的单元格（−∞ 写作 -inf）；检查时运行下面这一行。"
         "每一步都按你自己前面的数来判断，一处计算失误不会连累后面的步骤。"},
};
constexpr Text of_a_sum{"entry by entry", "逐个元素相加"};
constexpr Text of_layer_norm{
    "each row by itself: its mean, its variance (the mean of the squared distances from it), then each entry: "
    "(x − mean) / √(variance + {})",
    "每一行单独计算：先求均值，再求方差（与均值之差的平方的平均），最后算每个元素：(x − 均值) / √(方差 + {})"};
constexpr Text of_rms_norm{
    "each row by itself: its mean square (the mean of the squares of its entries), then each entry: x / √(mean square + "
    "{})",
    "每一行单独计算：先求均方（各元素平方的平均），最后算每个元素：x / √(均方 + {})"};
// Of those that exercises have, and their slopes.
constexpr std::array<std::array<std::string_view, 2>, activation_names.size()> of_activations = {
    {{},
     {"relu(x) = max(x, 0)", "relu′(x) = 1, x > 0; 0, x ≤ 0"},
     {},
     {},
     {"silu(x) = x / (1 + e^(−x))", "silu′(x) = s·(1 + x·(1 − s)), s = 1 / (1 + e^(−x))"}}};
constexpr Text given{"What is given", "已知"};

show::PageOptions page_options(const WorksheetOptions& options) {
  show::PageOptions page;
  page.language = options.language;
  page.precision = options.decimals;
  page.full = true;
  page.sources = show::PageOptions::Sources::numbers;
  return page;
}

class Sheet {
 public:
  Sheet(const Problem& problem, const WorksheetOptions& options)
      : problem_(problem),
        options_(options),
        page_options_(page_options(options)),
        plan_(plan_with_gradient(problem)),
        layers_(show::scenes_of(problem, plan_, nothing_computed_, page_options_)),
        page_(options.language) {
    nothing_computed_.values.resize(plan_.values.size());
  }

  show::Document write() {
    add_header();
    page_.section({page_.say(given)});
    show::add_inputs(layers_.front(), {}, page_);
    if (problem_.loss) show::add_loss(layers_.front(), page_);
    const show::AddStep add = [this](const show::Scene& scene, const Step& step, int number, show::Place place) {
      add_step(scene, step, number, place);
    };
    show::add_sections(layers_, 0, page_, add);
    show::add_parameters(layers_, page_, add);
    return page_.take();
  }

 private:
  void add_header() {
    page_.title({"Multi-head attention by hand", "手算多头注意力"}, problem_.title);
    page_.add(show::given_facts_of(layers_.front()));
    const show::Words student =
        options_.student.empty() ? show::Words("…………………………") : show::Words().quote(options_.student);
    page_.paragraph(show::say_words(options_.language, {"Name: {0}", "姓名：{0}"}, {student}));
    if (!options_.due.empty())
      page_.paragraph(show::say_words(options_.language, {"Due: {0}", "截止：{0}"}, {show::Words().quote(options_.due)}));
    page_.paragraph(show::phrase::convention);
    page_.paragraph(task, show::decimals_text(options_.language, options_.decimals));
    page_.paragraph(how_to_check[static_cast<std::size_t>(options_.on)]);
    if (options_.on != WorksheetOptions::On::notebook)
      page_.paragraph({"mha check problem.json {}", "mha check problem.json {}"}, options_.answer);
  }

  void add_step(const show::Scene& scene, const Step& step, int number, show::Place place) {
    page_.add(show::StepHeading{number, show::title_of(scene, step, place), show::formula(scene, step, place),
                                show::shape_arithmetic(scene, step)});
    const Index first = show::place_of_head(scene, step.out, 0, show::own_head(scene, step.out, place.head)).head;
    if (first != place.head && !plan_.is_backward(step))
      return page_.caption(show::phrase::same_as_in_head, page_.counted(first));
    for (show::Words& caption : show::captions_of(scene, step, place)) page_.caption(std::move(caption));
    add_way(step);
    page_.add(equation(scene, step, place));
  }

  // How it is done with a pencil, where the page first needs it.
  void add_way(const Step& step) {
    const std::string_view function = of_activations[static_cast<std::size_t>(step.activation)][step.op == Op::slope];
    Text way = info_of(step.op).way;
    if (step.op == Op::add && step.id != StepId::masked) way = of_a_sum;  // no −∞ stands in it
    if (step.op == Op::norm) way = step.norm.kind == Norm::Kind::layer ? of_layer_norm : of_rms_norm;
    if (!function.empty()) way = {function, function};
    std::string text = page_.say(way, show::full_text(step.norm.eps));
    if (!text.empty() && told_.insert(text).second) page_.caption(show::Words(std::move(text)));
  }

  // Given operands as matrices, computed ones by their symbols; without a given one the blank stands alone.
  show::Equation equation(const show::Scene& scene, const Step& step, show::Place place) const {
    show::Equation result;
    bool any_given = false;
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const bool turned = (i == 0 && step.first_transposed) || (i == 1 && step.transposed);
      const bool transposed = turned && step.op == Op::product;
      if (i > 0) result.parts.emplace_back(show::sign_before(step, i));
      const bool is_given = show::is_given_matrix(plan_.value(step.in[i]));
      if (is_given)
        result.parts.emplace_back(*show::labelled_matrix(scene, step.in[i], place, transposed));
      else
        result.parts.emplace_back(symbol(scene, step.in[i], place, transposed));
      any_given = any_given || is_given;
    }
    if (any_given)
      result.parts.emplace_back(show::sign_before_result(step));
    else
      result.parts.clear();
    result.parts.emplace_back(blank(scene, step, place));
    return result;
  }

  show::Matrix blank(const show::Scene& scene, const Step& step, show::Place place) const {
    const Shape& shape = plan_.value(step.out).shape;
    show::Matrix matrix;
    matrix.symbol = symbol(scene, step.out, place);
    matrix.sources = show::Sources{typed_name(scene, step.out, place), {}, {}, {}, cells_name_of(scene, step.out, place)};
    matrix.rows = {shape.rows, shape.rows, 0};
    matrix.columns = {shape.cols, shape.cols, 0};
    const std::string line(static_cast<std::size_t>(options_.decimals) + 3, '_');
    matrix.cells.assign(static_cast<std::size_t>(shape.rows * shape.cols), {line, show::Cell::Mark::none, -1});
    if (step.op == Op::merge)
      for (Index head = 0; head < scene.problem.heads; ++head)
        matrix.groups.push_back({symbol(scene, step.in[0], {0, head}), scene.problem.d_v()});
    return matrix;
  }

  const Problem& problem_;
  const WorksheetOptions& options_;
  show::PageOptions page_options_;
  Plan plan_;
  Trace nothing_computed_;
  show::Scenes layers_;
  show::PageBuilder page_;
  std::set<std::string> told_;
};

// As many heads as any step has.
Index heads_of(const Written& steps) {
  Index heads = 1;
  for (const StepName& name : row_names)
    if (const Tensor* step = steps[static_cast<std::size_t>(name.step)].get(); step != nullptr && name.per_head)
      heads = std::max(heads, step->shape().heads);
  return heads;
}

// Without X, which is given.
Written from_step(Written steps, StepId first) {
  std::fill_n(steps.begin(), std::max<std::size_t>(1, static_cast<std::size_t>(first)), nullptr);
  return steps;
}

void write_work(io::JsonWriter& json, const Written& steps, const std::function<void(const Tensor&, Index)>& write) {
  io::write_steps(json, {[&](StepId step) { return steps[static_cast<std::size_t>(step)].get(); }, write, heads_of(steps)});
}

// `layer`: of a stack, from 0.
void write_mistake(io::JsonWriter& json, const Outcome& outcome, std::optional<Index> layer) {
  json.begin_object();
  if (layer) json.integer("layer", *layer + 1);
  json.text("id", outcome.mistake->id);
  if (!outcome.detail.empty()) json.text("detail", outcome.detail);
  json.key("what");
  io::write_caption(json, {std::string(outcome.mistake->what.en), std::string(outcome.mistake->what.zh), true});
  json.text("first_wrong", name_of(*outcome.shown_by).id);
  const Written numbers = from_step(outcome.numbers, *outcome.shown_by);
  const auto write = [&](const Tensor& step, Index head) {
    json.matrix(step.matrix(0, head), step.shape().rows, step.shape().cols);
  };
  write_work(json, numbers, write);
  for (const StepName& name : row_names) {
    const Tensor* step = is_gradient(name.step) ? numbers[static_cast<std::size_t>(name.step)].get() : nullptr;
    for (Index head = 0; step != nullptr && head < step->shape().heads; ++head) {
      json.key(fmt::format("{}{}", name.id, name.per_head ? std::to_string(head + 1) : ""));
      write(*step, head);
    }
  }
  json.end();
}

}  // namespace

show::Document worksheet(const Problem& problem, const WorksheetOptions& options) {
  return Sheet(problem, options).write();
}

void write_answer_template(io::Sink& sink, const Problem& problem) {
  const Plan plan = plan_with_gradient(problem);
  Selection without_X;
  without_X.steps[static_cast<std::size_t>(StepId::X)] = false;
  io::JsonWriter json(sink);
  json.leave_blank();
  json.begin_object();
  io::write_computed(json, problem, plan, simulate(plan), without_X, false);
  json.finish();
}

void write_mistakes(io::Sink& sink, const Problem& problem) {
  io::JsonWriter json(sink);
  json.begin_object();
  json.begin_array("mistakes");
  const std::vector<Problem> layers = layered(problem).problems;
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const Outcome& outcome : outcomes(layers[i]))
      if (outcome.shown_by)
        write_mistake(json, outcome, layers.size() > 1 ? std::optional(static_cast<Index>(i)) : std::nullopt);
  json.finish();
}

}  // namespace mha::study
