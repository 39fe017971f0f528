// mha inspect: what a layer looks like from outside.
#include "study/inspect/inspect.hpp"

#include "cli/commands.hpp"
#include "cli/files.hpp"

namespace mha::cli {
namespace {

struct InspectOptions {
  std::vector<std::string> problems;
  bool allow_outside = false;
  PageOptionTexts page;
  OutputTexts output;
};

void inspect_problems(const InspectOptions& options, World& world) {
  show::PageOptions page = page_from(options.page, world);
  Output output(options.output, page_or_json, style_from(options.page, world), world);
  if (output.kind() == Format::Kind::json) page.index_base = 1;  // as all files
  const std::vector<std::string> names = options.problems.empty() ? std::vector<std::string>{"worked"} : options.problems;
  const std::vector<Problem> problems = read_problems(names, world, options.allow_outside);
  output.open();
  const study::Inspection inspection =
      study::inspect(problems, page, [&](const Problem& problem, const Plan& plan, const Trace& trace) {
        warn_of(problem, plan, trace, page, world, problems.size() > 1);
      });
  if (output.kind() == Format::Kind::json)
    write_inspection(output.sink(), inspection, problems, page);
  else
    output.write(page, [&](const auto& in) {
      return describe(in.language == page.language ? inspection : study::inspect(problems, in, {}), problems, in);
    });
  output.finish();
}

}  // namespace

Action setup_inspect(CommandLine& app) {
  auto options = std::make_shared<InspectOptions>();
  declare_arguments(app, "PROBLEM", options->problems,
                    {"one or several: files, - or examples' names (default: worked)",
                     "一道或几道题目：文件、- 或示例的名称（默认 worked）"});
  declare_flag(app, "--full", options->page.full, {"print large matrices whole", "完整打印大矩阵"});
  declare_output(app, options->output, page_or_json);
  declare_page_options(app, options->page);
  declare_allow_outside(app, options->allow_outside);
  declare_examples(app, {},
                   {{"mha inspect bag_zh                  ", {"where four heads look", "四个头各看哪里"}},
                    {"mha inspect monday.json tuesday.json", {"   what holds in both", "   两道题都成立的发现"}},
                    {"mha inspect stack --format json     ", {"for a program", "供程序读取"}}});
  return [options](World& world) { inspect_problems(*options, world); };
}

}  // namespace mha::cli
