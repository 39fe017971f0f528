// mha examples: the built-in problems, listed or printed to start one's own.
#include <array>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "io/problem/embedded.hpp"
#include "io/problem/problem_reader.hpp"
#include "show/pages/page.hpp"

namespace mha::cli {
namespace {

struct ExamplesOptions {
  std::optional<std::string> name, lang;
  OutputTexts output;
};

constexpr Text name_heading = {"name", "名称"};
constexpr Text title_heading = {"what it shows", "内容"};

constexpr std::array json_alone = {Format::Kind::json};

void write_example(std::string_view text, const OutputTexts& texts, World& world) {
  Output output(texts, json_alone, {}, world);
  output.open();
  output.sink().write(text);
  output.finish();
}

void list_examples(Language language, const OutputTexts& texts, World& world) {
  show::PageBuilder page(language);
  show::Table table{page.header(name_heading, title_heading), {}};
  for (const io::EmbeddedFile& example : io::examples()) {
    const Problem problem = io::read_problem_text(example.text, example.name);
    table.rows.push_back({std::string(example.name), show::Words().quote(problem.title.in(language))});
  }
  page.add(std::move(table));
  Output output(texts, page_only, style_from({}, world), world);
  output.open();
  output.write(page.take());
  output.finish();
}

}  // namespace

Action setup_examples(CommandLine& app) {
  auto options = std::make_shared<ExamplesOptions>();
  declare_argument(app, "NAME", options->name, {"print the JSON of this example", "打印这个示例的 JSON"});
  declare_language(app, options->lang, {"list", "列表"});
  declare_output(app, options->output, page_only);
  declare_examples(app, {},
                   {{"mha examples                       ", {"the list", "列表"}},
                    {"mha examples worked > mine.json    ", {"start your own from one", "以一个示例为起点"}}});
  return [options](World& world) {
    const Language language = language_from(options->lang, world);
    if (options->name)
      write_example(example_text(*options->name), options->output, world);
    else
      list_examples(language, options->output, world);
  };
}

}  // namespace mha::cli
