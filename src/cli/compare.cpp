// mha compare: two problems, or one and the same with a mistake made, step by step side by side.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/values.hpp"
#include "core/suggest.hpp"
#include "io/problem/embedded.hpp"
#include "io/problem/problem_reader.hpp"
#include "show/words/phrases.hpp"
#include "study/compare/compare.hpp"

namespace mha::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> problems;
  std::optional<std::string> mistake, steps, heads;
  bool full = false, pause = false;
  PageOptionTexts page;
  OutputTexts output;
  bool allow_outside = false;
};

constexpr Text with_mistake{"{0} with {1}", "{0}（错误 {1}）"};
constexpr Text shown_elsewhere{"`mha compare {} --mistake {}` shows it.", "`mha compare {} --mistake {}` 可以看出。"};

const study::Mistake& mistake_called(const std::string& id) {
  if (const study::Mistake* mistake = study::find_mistake(id)) return *mistake;
  throw Error({"--mistake '{}': no mistake has this id.{} `mha mistakes` lists them",
               "--mistake '{}'：没有这个标识的错误。{}`mha mistakes` 列出全部错误"},
              id, did_you_mean(id, column_of(study::mistakes(), &study::Mistake::id)));
}

show::Words named(const Problem& problem, const std::string& name, Language language) {
  return problem.title.empty() ? show::Words().quote(name) : show::Words().quote(problem.title.in(language));
}

study::Side side_of(const Problem& problem, const std::string& name, Language language) {
  const Plan plan = study::answer_plan(problem);
  return {named(problem, name, language), study::written(plan, study::simulate(plan)), &problem};
}

// The first form of the mistake that this problem shows; null where it shows none of them.
const study::Variant* shown_form(const Problem& problem, const study::Variants& forms) {
  if (forms.empty()) return nullptr;
  const std::vector<study::Written> right = study::right_forms(problem);
  for (const study::Variant& form : forms)
    if (study::first_step_wrong(study::written(form.plan, study::simulate(form.plan)), right)) return &form;
  return nullptr;
}

// Where this mistake can be seen instead.
Saying elsewhere(const study::Mistake& mistake) {
  for (const io::EmbeddedFile& example : io::examples()) {
    const Problem problem = io::read_problem_text(example.text, example.name);
    if (problem.layers.empty() && shown_form(problem, mistake.variants(problem)) != nullptr)
      return say(shown_elsewhere, example.name, mistake.id);
  }
  return {};  // a mistake without an example
}

// The first form of the mistake that this problem shows, else its first one.
study::Side mistaken_side(const Problem& problem, const std::string& name, const study::Mistake& mistake, Language language,
                          std::vector<show::Words>& remarks) {
  const study::Variants forms = mistake.variants(problem);
  if (forms.empty())
    throw Error({"--mistake {0}: it cannot be made on {1}; `mha mistakes {1}` lists what can. {2}",
                 "--mistake {0}：在 {1} 上不可能犯这种错误；`mha mistakes {1}` 列出可能的错误。{2}"},
                mistake.id, name, elsewhere(mistake));
  remarks.emplace_back(study::in_layout(mistake.what.in(language), problem.layout));
  const study::Variant* shown = shown_form(problem, forms);
  if (shown == nullptr)
    remarks.emplace_back(show::say(language, {"This problem cannot show this mistake: every number comes out right.",
                                              "这道题看不出这种错误：每个数仍然正确。"}) +
                         (language == Language::en ? " " : "") + elsewhere(mistake).in(language));
  if (shown == nullptr) shown = &forms.front();
  std::string id(mistake.id);
  if (!shown->detail.empty())
    id += language == Language::en ? fmt::format(" ({})", shown->detail) : fmt::format("；{}", shown->detail);
  show::Words words = show::say_words(language, with_mistake, {named(problem, name, language), show::Words(id)});
  return {std::move(words), study::written(shown->plan, study::simulate(shown->plan)), &problem};
}

void compare_problems(const CompareOptions& options, World& world) {
  refuse_two_standard_inputs(options.problems);
  show::PageOptions page = page_from(options.page, world);
  if (options.steps) page.selection.steps = parse_steps(*options.steps);
  page.full = options.full;
  Output output(options.output, page_or_json, style_from(options.page, world), world);
  const std::string& name = options.problems.front();
  const Problem problem = read_problem(name, world, options.allow_outside);
  const study::Side left = side_of(problem, name, page.language);
  study::Side right;
  std::vector<show::Words> remarks;
  Index heads = problem.heads;
  std::optional<Problem> other;
  if (options.mistake) {
    const study::Mistake& mistake = mistake_called(*options.mistake);
    right = mistaken_side(problem, name, mistake, page.language, remarks);
  } else {
    other = read_problem(options.problems[1], world, options.allow_outside);
    right = side_of(*other, options.problems[1], page.language);
    heads = std::max(heads, other->heads);
  }
  if (options.heads) page.selection.heads = parse_heads(*options.heads, heads, page);
  std::vector<std::string> inputs = options.problems;
  inputs.insert(inputs.end(), problem.files.begin(), problem.files.end());
  if (other) inputs.insert(inputs.end(), other->files.begin(), other->files.end());
  output.open(std::move(inputs));
  const study::Comparison comparison = study::compare(left.numbers, right.numbers);
  if (output.kind() == Format::Kind::json) {
    const auto id = options.mistake ? std::optional<std::string_view>(*options.mistake) : std::nullopt;
    study::write_comparison_json(output.sink(), comparison, left, right, id, page.selection);
  } else {
    output.write(describe(comparison, left, right, remarks, page), options.pause);
  }
  output.finish();
}

}  // namespace

Action setup_compare(CommandLine& app) {
  auto options = std::make_shared<CompareOptions>();
  declare_arguments(app, "PROBLEM", options->problems,
                    {"two problems: files, - or examples' names; or one with --mistake",
                     "两道题目：文件、- 或示例的名称；或一道题目加 --mistake"});
  declare_option(app, "--mistake", options->mistake, "ID",
                 {"compare with the same problem after this mistake; `mha mistakes` lists them",
                  "与犯了这种错误的同一题对照；`mha mistakes` 列出全部错误"});
  declare_option(app, "--steps", options->steps, "LIST", {"only these steps", "只看这些步骤"});
  declare_option(app, "--heads", options->heads, "LIST", {"only these heads", "只看这些头"});
  declare_flag(app, "--full", options->full, {"print large matrices whole", "完整打印大矩阵"});
  declare_output(app, options->output, page_or_json);
  declare_pause(app, options->pause);
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_examples(app, {},
                   {{"mha compare worked --mistake no_scale      ", {"what a forgotten scale does", "漏了缩放会怎样"}},
                    {"mha compare bag_zh bag_one_head_zh         ", {"four heads against one", "四个头与一个头对照"}},
                    {"mha compare mine.json theirs.json --steps weights,output"}});
  return [options](World& world) {
    if (options->pause) expect_terminal(world);
    const std::size_t wanted = options->mistake ? 1 : 2;
    if (options->problems.size() != wanted)
      throw Error(options->mistake
                      ? Text{"with --mistake, one problem is compared with itself: name one problem",
                             "有 --mistake 时，一道题目与自身对照：请只写一道题目"}
                      : Text{"name two problems, or one and --mistake ID", "请写两道题目，或一道题目加 --mistake ID"});
    compare_problems(*options, world);
    return Exit::fine;
  };
}

}  // namespace mha::cli
