// mha mistakes: what people get wrong, and which of it a problem can show.
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "show/pages/page.hpp"
#include "show/words/notation.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::cli {
namespace {

struct MistakesOptions {
  std::optional<std::string> problem, layers;
  PageOptionTexts page;
  OutputTexts output;
  bool allow_outside = false;
};

constexpr Text shown_count{"{} of {} mistakes show in this problem.", "{1} 种错误中，这道题看得出 {0} 种。"};
constexpr Text alike_title{"Mistakes that give the same numbers here", "在这道题中数值相同、无法区分的错误"};

// Under the title of the first step that shows them.
void add_by_step(const std::vector<const study::Mistake*>& list, show::PageBuilder& page, Layout layout = {}) {
  for (const StepName& step : row_names) {
    show::Table table;
    for (const study::Mistake* mistake : list)
      if (mistake->first == step.step)
        table.rows.push_back({std::string(mistake->id), study::in_layout(page.say(mistake->what), layout)});
    if (table.rows.empty()) continue;
    page.add(show::StepHeading{{}, show::title(step.step, page.language()), std::string(step.id), {}});
    table.header = page.header(Text{"id", "标识"}, Text{"what was done, and the remedy", "错在哪里，应当怎样"});
    page.add(std::move(table));
  }
}

void add_ids(const std::vector<std::string_view>& ids, show::PageBuilder& page) {
  page.paragraph(show::Words(fmt::format("{}", fmt::join(ids, page.say(show::phrase::comma)))));
}

void list_all(show::PageBuilder& page) {
  page.title({"Mistakes in multi-head attention", "多头注意力中的常见错误"});
  std::vector<const study::Mistake*> all;
  for (const study::Mistake& mistake : study::mistakes()) all.push_back(&mistake);
  add_by_step(all, page);
}

void list_for(const Problem& problem, show::PageBuilder& page) {
  const std::vector<study::Outcome> made = study::outcomes(problem);
  const std::vector<study::Written> right = study::right_forms(problem);
  std::vector<const study::Mistake*> shows;
  std::vector<std::string_view> hides, impossible;
  for (const study::Mistake& mistake : study::mistakes()) {
    if (is_gradient(mistake.first) && !problem.loss) continue;  // there is no way back
    const auto is_this = [&](const study::Outcome& outcome) { return outcome.mistake == &mistake; };
    const auto is_shown = [&](const study::Outcome& outcome) { return is_this(outcome) && outcome.shown_by; };
    if (std::any_of(made.begin(), made.end(), is_shown))
      shows.push_back(&mistake);
    else
      (std::any_of(made.begin(), made.end(), is_this) ? hides : impossible).push_back(mistake.id);
  }
  page.paragraph(shown_count, shows.size(), shows.size() + hides.size() + impossible.size());
  add_by_step(shows, page, problem.layout);
  const study::IdGroups alike = study::indistinguishable(made, right, StepId::X, study::same_number);
  if (!alike.empty()) page.section({page.say(alike_title)});
  for (const std::vector<std::string_view>& group : alike) add_ids(group, page);
  if (!hides.empty()) {
    page.section({page.say({"Mistakes that this problem hides", "这道题看不出的错误"})});
    page.paragraph({"They can be made here, and every number comes out right.", "犯了这些错误，每个数仍然正确。"});
    add_ids(hides, page);
  }
  if (!impossible.empty()) {
    page.section({page.say({"Mistakes that cannot be made here", "在这道题中不可能犯的错误"})});
    add_ids(impossible, page);
  }
}

// Of a stack layer by layer: each reads what the one before gives.
void list_layers(const Problem& problem, const show::PageOptions& options, show::PageBuilder& page) {
  page.title({"Mistakes that show in this problem", "这道题看得出的错误"});
  if (problem.layers.empty()) return list_for(problem, page);
  const std::vector<Problem> layers = study::layered(problem).problems;
  for (int i = 0; i < problem.layer_count(); ++i) {
    if (!options.selection.has_layer(i)) continue;
    page.section({page.say(show::phrase::layer_of, page.counted(i), problem.layer_count())}, show::Section::Level::item);
    list_for(layers[static_cast<std::size_t>(i)], page);
  }
}

}  // namespace

Action setup_mistakes(CommandLine& app) {
  auto options = std::make_shared<MistakesOptions>();
  declare_argument(app, "PROBLEM", options->problem,
                   {"say which of them this problem can show: a file, - or an example's name",
                    "说明这道题看得出其中哪些：文件、- 或示例的名称"});
  declare_option(app, "--layers", options->layers, "LIST", {"only these layers", "只看这些层"});
  declare_output(app, options->output, page_only);
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_examples(app, {},
                   {{"mha mistakes             ", {"all of them", "全部错误"}},
                    {"mha mistakes worked      ", {"those that the worked example can show", "3×4 手算示例看得出的错误"}}});
  return [options](World& world) {
    show::PageOptions page_options = page_from(options->page, world);
    std::optional<Problem> problem;
    Output output(options->output, page_only, style_from(options->page, world), world);
    if (options->problem) {
      problem = read_problem(*options->problem, world, options->allow_outside);
      if (options->layers)
        page_options.selection.layers = parse_layers(*options->layers, problem->layer_count(), page_options);
      warn_of({&*problem, 1}, page_options, world);
    } else if (options->layers) {
      throw Error({"--layers are those of a problem; name one", "--layers 是题目的层；请写出题目"});
    }
    output.open();
    output.write(page_options, [&problem](const auto& in) {
      show::PageBuilder page(in.language, in.index_base);
      problem ? list_layers(*problem, in, page) : list_all(page);
      return page.take();
    });
    output.finish();
  };
}

}  // namespace mha::cli
