// The page of a run before it is run: headings, formulas and given matrices, and blank matrices for the results.
#include "study/exercise/exercise.hpp"

#include "core/gradient.hpp"
#include "show/pages/page.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"

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
    const std::string_view file = options_.on == WorksheetOptions::On::sheet ? "sheet.xlsx" : "answer.json";
    if (options_.on != WorksheetOptions::On::notebook)
      page_.paragraph({"mha check problem.json {}", "mha check problem.json {}"}, file);
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

  // Where the page first needs it.
  void add_way(const Step& step) {
    const bool is_sum = step.op == Op::add && step.id != StepId::masked;  // no −∞ stands in it
    const Text way = is_sum ? of_a_sum : info_of(step.op).way;
    if (!way.en.empty() && told_.insert({step.op, is_sum}).second) page_.caption(way);
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
  std::set<std::pair<Op, bool>> told_;  // and whether no −∞ stands in it
};

}  // namespace

show::Document worksheet(const Problem& problem, const WorksheetOptions& options) {
  return Sheet(problem, options).write();
}

}  // namespace mha::study
