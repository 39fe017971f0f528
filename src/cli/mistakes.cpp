// mha mistakes: what people get wrong, and which of it a problem can show.
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/page_options.hpp"
#include "show/words/phrases.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::cli {
namespace {

struct MistakesOptions {
  std::optional<std::string> problem;
  PageOptionTexts page;
  bool allow_outside = false;
};

constexpr Text all_title{"Mistakes in multi-head attention", "多头注意力中的常见错误"};
constexpr Text problem_title{"Mistakes that show in this problem", "这道题能暴露的错误"};
constexpr Text shown{"{} of {} mistakes show in this problem.", "{1} 种错误中，这道题能暴露 {0} 种。"};
constexpr Text hidden_title{"Mistakes that this problem hides", "这道题看不出的错误"};
constexpr Text hidden_remark{"They can be made here, and every number comes out right.", "犯了这些错误，每个数仍然正确。"};
constexpr Text impossible_title{"Mistakes that cannot be made here", "在这道题中不可能犯的错误"};
constexpr Text alike_title{"Mistakes that give the same numbers here", "在这道题中数值相同、无法区分的错误"};
constexpr Text id_header{"id", "标识"};
constexpr Text what_header{"what was done, and the remedy", "错在哪里，应当怎样"};

class Page {
 public:
  explicit Page(Language language) : language_(language) { page_.language = language; }

  void title(const Text& text) { page_.blocks.emplace_back(show::Title{{words(text)}}); }
  void paragraph(show::Words text) { page_.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, std::move(text)}); }
  void paragraph(const Text& text) { paragraph(words(text)); }
  void section(const Text& text) { page_.blocks.emplace_back(show::Section{show::Section::Level::head, {words(text)}}); }

  // Under the title of the first step that shows them.
  void by_step(const std::vector<const study::Mistake*>& list) {
    for (const StepName& step : step_names) {
      show::Table table;
      for (const study::Mistake* mistake : list)
        if (mistake->first == step.step) table.rows.push_back(row(*mistake));
      if (table.rows.empty()) continue;
      page_.blocks.emplace_back(show::StepHeading{{}, std::string(step.title.in(language_)), std::string(step.id), {}});
      table.header = {std::string(id_header.in(language_)), std::string(what_header.in(language_))};
      page_.blocks.emplace_back(std::move(table));
    }
  }

  void ids(const std::vector<std::string_view>& list) {
    std::string text;
    for (const std::string_view id : list) text += (text.empty() ? "" : ", ") + std::string(id);
    paragraph(show::Words(text));
  }

  const show::Document& document() const { return page_; }
  Language language() const { return language_; }

 private:
  show::Words words(const Text& text) const { return show::Words(std::string(text.in(language_))); }
  std::vector<show::Words> row(const study::Mistake& mistake) const { return {show::Words(std::string(mistake.id)), words(mistake.what)}; }

  Language language_;
  show::Document page_;
};

void list_all(Page& page) {
  page.title(all_title);
  std::vector<const study::Mistake*> all;
  for (const study::Mistake& mistake : study::mistakes()) all.push_back(&mistake);
  page.by_step(all);
}

void list_for(const Problem& problem, Page& page) {
  const std::vector<study::Outcome> made = study::outcomes(problem);
  const std::vector<study::Written> right = study::right_forms(problem);
  std::vector<const study::Mistake*> shows;
  std::vector<std::string_view> hides, impossible;
  for (const study::Mistake& mistake : study::mistakes()) {
    const auto is_this = [&](const study::Outcome& outcome) { return outcome.mistake == &mistake; };
    const auto is_shown = [&](const study::Outcome& outcome) { return is_this(outcome) && outcome.shown_by; };
    if (std::any_of(made.begin(), made.end(), is_shown))
      shows.push_back(&mistake);
    else
      (std::any_of(made.begin(), made.end(), is_this) ? hides : impossible).push_back(mistake.id);
  }
  page.title(problem_title);
  page.paragraph(show::Words(show::say(page.language(), shown, shows.size(), study::mistakes().size())));
  page.by_step(shows);
  const study::IdGroups alike = study::indistinguishable(made, right, StepId::X, study::same_number);
  if (!alike.empty()) page.section(alike_title);
  for (const std::vector<std::string_view>& group : alike) page.ids(group);
  if (!hides.empty()) {
    page.section(hidden_title);
    page.paragraph(hidden_remark);
    page.ids(hides);
  }
  if (!impossible.empty()) {
    page.section(impossible_title);
    page.ids(impossible);
  }
}

}  // namespace

Action setup_mistakes(CLI::App& app) {
  auto options = std::make_shared<MistakesOptions>();
  declare_argument(app, "PROBLEM", options->problem,
                   "say which of them this problem can show: a file, - or an example's name");
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_footer(
      app,
      "examples:\n  mha mistakes             all of them\n  mha mistakes worked      those that the worked example can "
      "show");
  return [options](World& world) {
    Page page(language_from(options->page, world));
    if (options->problem)
      list_for(read_problem(*options->problem, world, options->allow_outside), page);
    else
      list_all(page);
    world.out.write(show::write_text(page.document(), style_from(options->page, world)));
    return Exit::fine;
  };
}

}  // namespace mha::cli
