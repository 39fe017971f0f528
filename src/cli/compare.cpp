// mha compare: two problems, or one and the same with a mistake made, step by step side by side.
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_reader.hpp"
#include "show/words/phrases.hpp"
#include "study/compare/compare.hpp"

namespace mha::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> problems;
  std::optional<std::string> mistake;
  SelectionTexts selection;
  std::array<bool, study::head_changes.size()> changes{};

  const study::HeadChange* change() const {
    const auto chosen = std::find(changes.begin(), changes.end(), true);
    return chosen == changes.end() ? nullptr : &study::head_changes[static_cast<std::size_t>(chosen - changes.begin())];
  }
  bool with_itself() const { return mistake || change() != nullptr; }
  bool pause = false, allow_outside = false;
  PageOptionTexts page;
  OutputTexts output;
};

constexpr Text with_mistake{"{0} with {1}", "{0}（错误 {1}）"};
constexpr Text shown_elsewhere{"`mha compare {} --mistake {}` shows it.", "`mha compare {} --mistake {}` 可以看出。"};

const study::Mistake& mistake_called(const std::string& id) {
  if (const study::Mistake* mistake = study::find_mistake(id)) return *mistake;
  throw Error({"--mistake '{}': no mistake has this id.{} `mha mistakes` lists them",
               "--mistake '{}'：没有这个标识的错误。{}`mha mistakes` 列出全部错误"},
              id, did_you_mean(id, column_of(study::mistakes(), &study::Mistake::id)));
}

show::Words named(const Problem& problem, Language language) {
  return show::Words().quote(problem.title.in(language));
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
  if (is_gradient(mistake.first))
    return say(
        {"It is made on the way back: that takes a problem with a loss.", "这种错误出在反向传播中：题目要有 loss。"});
  for (const io::EmbeddedFile& example : io::examples()) {
    const Problem problem = io::read_problem_text(example.text, example.name);
    const std::vector<Problem> layers = study::layered(problem).problems;
    if (std::any_of(layers.begin(), layers.end(),
                    [&](const Problem& layer) { return shown_form(layer, mistake.variants(layer)) != nullptr; }))
      return say(shown_elsewhere, example.name, mistake.id);
  }
  return {};  // a mistake without an example
}

// Those in which it is made: as said, or the first that shows it, else the first in which it can be.
std::vector<Index> layers_of(const study::Mistake& mistake, const std::vector<Problem>& layers) {
  std::optional<Index> possible;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const study::Variants forms = mistake.variants(layers[i]);
    if (shown_form(layers[i], forms) != nullptr) return {static_cast<Index>(i)};
    if (!forms.empty() && !possible) possible = static_cast<Index>(i);
  }
  return possible ? std::vector{*possible} : std::vector<Index>();
}

// The first form of the mistake that a layer shows, else its first one, in each of these layers.
study::Side mistaken_side(const Problem& problem, const std::string& name, const study::Mistake& mistake,
                          std::vector<Index> layers, const show::PageOptions& page, std::vector<show::Words>& remarks) {
  const std::vector<Problem> right = study::layered(problem).problems;
  if (layers.empty()) layers = layers_of(mistake, right);
  const auto is_impossible = [&](Index i) { return mistake.variants(right[static_cast<std::size_t>(i)]).empty(); };
  if (layers.empty() || std::any_of(layers.begin(), layers.end(), is_impossible))
    throw Error({"--mistake {0}: it cannot be made on {1}; `mha mistakes {1}` lists what can. {2}",
                 "--mistake {0}：在 {1} 上不可能犯这种错误；`mha mistakes {1}` 列出可能的错误。{2}"},
                mistake.id, shell_word(name), elsewhere(mistake));
  remarks.emplace_back(study::in_layout(mistake.what.in(page.language), problem.layout));
  bool is_shown = false;
  std::string detail;
  study::Layered made = study::layered(problem, [&](const Problem& layer, int number) {
    if (!std::binary_search(layers.begin(), layers.end(), number)) return study::answer_plan(layer);
    study::Variants forms = mistake.variants(layer);
    const study::Variant* shown = shown_form(layer, forms);
    is_shown = is_shown || shown != nullptr;
    const study::Variant& form = shown == nullptr ? forms.front() : *shown;
    if (detail.empty()) detail = form.detail;
    return form.plan;
  });
  if (!is_shown)
    remarks.emplace_back(show::say(page.language, {"This problem cannot show this mistake: every number comes out right.",
                                                   "这道题看不出这种错误：每个数仍然正确。"}) +
                         (page.language == Language::en ? " " : "") + elsewhere(mistake).in(page.language));
  std::vector<std::string> told;  // "detail; layer 2"
  if (!detail.empty()) told.push_back(detail);
  for (const Index layer : problem.layers.empty() ? std::vector<Index>() : layers)
    told.push_back(show::say(page.language, {"layer {}", "第 {} 层"}, layer + page.index_base));
  std::string id(mistake.id);
  if (!told.empty())
    id += show::say(page.language, {" ({})", "；{}"}, fmt::join(told, show::say(page.language, show::phrase::semicolon)));
  return {show::say_words(page.language, with_mistake, {named(problem, page.language), show::Words(id)}), std::move(made)};
}

// Both sides in the language of the page, and how the right one was made.
struct Sides {
  study::Side left, right;
  study::MadeOf made;
  std::vector<show::Words> remarks;
  study::Comparison comparison;
};

Sides sides_of(const CompareOptions& options, const std::vector<Problem>& problems, show::PageOptions& page) {
  const Problem& problem = problems.front();
  Sides sides{{named(problem, page.language), study::layered(problem)}, {}, {}, {}, {}};
  auto& [left, right, made, remarks, comparison] = sides;
  const study::HeadChange* const change = options.change();
  if (change != nullptr) {
    right = change->make(problem);
    right.name = show::say_words(page.language, change->name, {left.name});
    const auto [apart, count] = study::bits_apart(left.computed.numbers, right.computed.numbers);
    remarks.emplace_back(say(page.language, change->remark, apart, count));
    made.emplace("change", change->id);
  } else if (options.mistake) {
    const study::Mistake& mistake = mistake_called(*options.mistake);
    right = mistaken_side(problem, options.problems[0], mistake, std::exchange(page.selection.layers, {}), page, remarks);
    made.emplace("mistake", *options.mistake);
  } else {
    right = {named(problems[1], page.language), study::layered(problems[1])};
  }
  comparison = study::compare(left.computed.numbers, right.computed.numbers);
  return sides;
}

void compare_problems(const CompareOptions& options, World& world) {
  show::PageOptions page = page_from(options.page, world);
  Output output(options.output, page_or_json, style_from(options.page, world), world);
  const std::vector<Problem> problems = read_problems(options.problems, world, options.allow_outside);
  choose(options.selection, problems, page);
  warn_of(problems, page, world);
  output.open();
  const auto tell = [&](show::PageOptions in) {
    const Sides sides = sides_of(options, problems, in);
    if (output.kind() != Format::Kind::json) return describe(sides.comparison, sides.left, sides.right, sides.remarks, in);
    study::write_comparison_json(output.sink(), sides.comparison, sides.left, sides.right, sides.made, in.selection);
    return show::Document{};
  };
  output.kind() == Format::Kind::json ? void(tell(page)) : output.write(page, tell, options.pause);
  output.finish();
}

}  // namespace

Action setup_compare(CommandLine& app) {
  auto options = std::make_shared<CompareOptions>();
  declare_arguments(
      app, "PROBLEM", options->problems,
      {"two problems: files, - or examples' names; or one with --mistake, --as-layers, --as-one-head or --loop",
       "两道题目：文件、- 或示例的名称；或一道题目加 --mistake、--as-layers、--as-one-head 或 --loop"});
  declare_option(app, "--mistake", options->mistake, "ID",
                 {"compare with the same problem after this mistake; `mha mistakes` lists them",
                  "与犯了这种错误的同一题对照；`mha mistakes` 列出全部错误"});
  for (std::size_t i = 0; i < study::head_changes.size(); ++i)
    declare_flag(app, study::head_changes[i].option, options->changes[i], study::head_changes[i].help);
  declare_selection(app, options->selection);
  declare_flag(app, "--full", options->page.full, {"print large matrices whole", "完整打印大矩阵"});
  declare_output(app, options->output, page_or_json);
  declare_pause(app, options->pause);
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_examples(app,
                   {"With --mistake, --layers are those in which it is made (the first that shows it).",
                    "有 --mistake 时，--layers 是犯错的层（默认第一个看得出的层）。"},
                   {{"mha compare worked --mistake no_scale      ", {"what a forgotten scale does", "漏了缩放会怎样"}},
                    {"mha compare worked --as-layers             ", {"heads are not layers", "头不是层"}},
                    {"mha compare bag_zh bag_one_head_zh         ", {"four heads against one", "四个头与一个头对照"}},
                    {"mha compare mine.json theirs.json --steps weights,output"}});
  return [options](World& world) {
    if (options->pause) expect_terminal(world);
    if (std::count(options->changes.begin(), options->changes.end(), true) + (options->mistake ? 1 : 0) > 1)
      throw Error({"of --mistake, --as-layers, --as-one-head and --loop, one at a time",
                   "--mistake、--as-layers、--as-one-head、--loop 一次只能写一个"});
    if (options->problems.size() != (options->with_itself() ? 1 : 2))
      throw Error(
          options->with_itself()
              ? Text{"with --mistake, --as-layers, --as-one-head or --loop, one problem is compared with itself: name "
                     "one problem",
                     "有 --mistake、--as-layers、--as-one-head 或 --loop 时，一道题目与自身对照：请只写一道题目"}
              : Text{"name two problems; or one and --mistake ID, --as-layers, --as-one-head or --loop",
                     "请写两道题目；或一道题目加 --mistake ID、--as-layers、--as-one-head 或 --loop"});
    compare_problems(*options, world);
  };
}

}  // namespace mha::cli
