// mha compare: two problems, or one and the same with a mistake made, step by step side by side.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/values.hpp"
#include "core/suggest.hpp"
#include "show/words/phrases.hpp"
#include "study/compare/compare_page.hpp"

namespace mha::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> problems;
  std::optional<std::string> mistake, steps, heads;
  bool full = false;
  PageOptionTexts page;
  OutputTexts output;
  bool allow_outside = false;
};

constexpr Text with_mistake{"{0} with {1}", "{0}，错误：{1}"};

const study::Mistake& mistake_called(const std::string& id) {
  if (const study::Mistake* mistake = study::find_mistake(id)) return *mistake;
  std::vector<std::string_view> ids;
  for (const study::Mistake& mistake : study::mistakes()) ids.push_back(mistake.id);
  throw Error(
      fmt::format("--mistake '{}': no mistake has this id.{} `mha mistakes` lists them", id, did_you_mean(id, ids)));
}

show::Words named(const Problem& problem, const std::string& name, Language language) {
  return problem.title.empty() ? show::Words().quote(name) : show::Words().quote(problem.title.in(language));
}

study::Side side_of(const Problem& problem, const std::string& name, Language language) {
  const Plan plan = study::answer_plan(problem);
  return {named(problem, name, language), study::written(plan, study::simulate(plan))};
}

// The first form of the mistake that this problem shows, else its first one.
study::Side mistaken_side(const Problem& problem, const std::string& name, const study::Mistake& mistake,
                          Language language) {
  const study::Variants variants = mistake.variants(problem);
  if (variants.empty())
    throw Error(
        fmt::format("--mistake {0}: it cannot be made on {1}; `mha mistakes {1}` lists what can", mistake.id, name));
  const std::vector<study::Written> right = study::right_forms(problem);
  const study::Variant* shown = &variants.front();
  for (const study::Variant& variant : variants) {
    if (study::first_step_wrong(study::written(variant.plan, study::simulate(variant.plan)), right)) {
      shown = &variant;
      break;
    }
  }
  std::string id(mistake.id);
  if (!shown->detail.empty()) id += fmt::format(" ({})", shown->detail);
  show::Words words = show::say_words(language, with_mistake, {named(problem, name, language), show::Words(id)});
  return {std::move(words), study::written(shown->plan, study::simulate(shown->plan))};
}

void compare_problems(const CompareOptions& options, World& world) {
  show::PageOptions page = page_from(options.page, world);
  if (options.steps) page.selection.steps = parse_steps(*options.steps);
  page.full = options.full;
  Output output(options.output, page_only, style_from(options.page, world), world);
  const std::string& name = options.problems.front();
  const Problem problem = read_problem(name, world, options.allow_outside);
  const study::Side left = side_of(problem, name, page.language);
  study::Side right;
  show::Words remark;
  Index heads = problem.heads;
  std::optional<Problem> other;
  if (options.mistake) {
    const study::Mistake& mistake = mistake_called(*options.mistake);
    right = mistaken_side(problem, name, mistake, page.language);
    remark.add(std::string(mistake.what.in(page.language)));
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
  output.write(describe(study::compare(left.numbers, right.numbers), left, right, remark, page));
  output.finish();
}

}  // namespace

Action setup_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  declare_arguments(app, "PROBLEM", options->problems, "two problems: files, - or examples' names; or one with --mistake");
  declare_option(app, "--mistake", options->mistake, "ID",
                 "compare with the same problem after this mistake; `mha mistakes` lists them");
  declare_option(app, "--steps", options->steps, "LIST", "only these steps");
  declare_option(app, "--heads", options->heads, "LIST", "only these heads");
  declare_flag(app, "--full", options->full, "print large matrices whole");
  declare_output(app, options->output, page_only);
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_footer(app,
                 "examples:\n"
                 "  mha compare worked --mistake no_scale      what a forgotten scale does\n"
                 "  mha compare bag_zh bag_one_head_zh         four heads against one\n"
                 "  mha compare mine.json theirs.json --steps weights,output");
  return [options](World& world) {
    const std::size_t wanted = options->mistake ? 1 : 2;
    if (options->problems.size() != wanted)
      throw Error(options->mistake ? "with --mistake, one problem is compared with itself: name one problem"
                                   : "name two problems, or one and --mistake ID");
    compare_problems(*options, world);
    return Exit::fine;
  };
}

}  // namespace mha::cli
