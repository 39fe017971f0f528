// mha examples: the built-in problems, listed or printed to start one's own.

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/values.hpp"
#include "io/problem/embedded.hpp"
#include "io/problem/problem_reader.hpp"
#include "show/text/text_writer.hpp"

namespace mha::cli {
namespace {

struct ExamplesOptions {
  std::optional<std::string> name, lang;
};

constexpr Text name_heading = {"name", "名称"};
constexpr Text title_heading = {"what it shows", "内容"};

void list_examples(Language language, World& world) {
  show::Table table;
  table.header = {std::string(name_heading.in(language)), std::string(title_heading.in(language))};
  for (const io::EmbeddedFile& example : io::examples()) {
    const Problem problem = io::read_problem_text(example.text, example.name);
    table.rows.push_back({show::Words(std::string(example.name)), show::Words().quote(problem.title.in(language))});
  }
  show::Document page;
  page.language = language;
  page.blocks.emplace_back(std::move(table));
  show::TextStyle style;
  style.width = world.terminal_width;
  style.color = wants_color(world);
  world.out.write(show::write_text(page, style));
}

}  // namespace

Action setup_examples(CLI::App& app) {
  auto options = std::make_shared<ExamplesOptions>();
  declare_argument(app, "NAME", options->name, "print the JSON of this example");
  declare_option(app, "--lang", options->lang, "en|zh", "language of the list (from the locale)");
  declare_footer(
      app,
      "examples:\n  mha examples                       the list\n  mha examples worked > mine.json    start your own from "
      "one");
  return [options](World& world) {
    Language language = language_of(world);
    if (options->lang) language = parse_choice("--lang", *options->lang, {"en", "zh"}) == 1 ? Language::zh : Language::en;
    if (options->name)
      world.out.write(example_text(*options->name));
    else
      list_examples(language, world);
    return Exit::fine;
  };
}

}  // namespace mha::cli
