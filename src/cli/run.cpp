// mha run: computes a problem and prints every step, or exports it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/page_options.hpp"
#include "cli/pause.hpp"
#include "cli/values.hpp"
#include "compute/engine.hpp"
#include "io/file_identity.hpp"
#include "io/output_file.hpp"
#include "io/trace_writer.hpp"
#include "show/describe.hpp"
#include "show/text_writer.hpp"

namespace mha {
namespace {

// As written on the command line.
struct RunOptionTexts {
  std::vector<std::string> problem, output;
  std::optional<std::string> steps, heads, format, work;
  bool full = false, with_weights = false, pause = false, quiet = false;
  PageOptionTexts page;
  ComputationOptionTexts computation;
};

// The formats in which a run can be told, by the ending of a file or by --format.
enum class Format { text, json };
struct FormatName {
  Format format;
  std::string_view name, ending, what;
};
constexpr std::array formats = {
    FormatName{Format::text, "text", ".txt", "the page without colour"},
    FormatName{Format::json, "json", ".json", "the trace"},
};

// Everything of the command line that can be settled without the problem.
struct Request {
  std::string problem = "worked";
  std::vector<std::pair<std::string, Format>> outputs;
  Format format = Format::text;  // on stdout, when there are no outputs
  PageOptions page;
  TextStyle style;
  Arithmetic arithmetic;
};

Format format_of_file(const std::string& path) {
  std::vector<std::string> known;
  for (const FormatName& format : formats) {
    if (path.size() > format.ending.size() && path.ends_with(format.ending)) return format.format;
    known.push_back(fmt::format("{} ({})", format.ending, format.what));
  }
  throw Error(fmt::format("-o '{}': the ending says what to write; known are {}", path, fmt::join(known, ", ")));
}

std::string one_problem(const std::vector<std::string>& names) {
  if (names.size() > 1)
    throw Error(fmt::format(
        "one problem at a time, but '{}' and '{}' were given; a list is one argument: write --heads 1,2 or --steps Q,K",
        names[0], names[1]));
  return names.empty() ? "worked" : names.front();
}

PageOptions page_of_run(const RunOptionTexts& texts, const World& world, const Arithmetic& arithmetic) {
  PageOptions page = page_from(texts.page, world, arithmetic.rounding.value_or(PageOptions{}.precision));
  if (texts.steps) page.selection.steps = parse_steps(*texts.steps);
  if (texts.work) page.work = static_cast<PageOptions::Work>(parse_choice("--work", *texts.work, {"first", "all", "none"}));
  page.full = texts.full;
  return page;
}

Request request_from(const RunOptionTexts& texts, const World& world) {
  Request request;
  request.problem = one_problem(texts.problem);
  for (const std::string& path : texts.output) request.outputs.emplace_back(path, format_of_file(path));
  if (texts.format) request.format = formats[parse_choice("--format", *texts.format, {"text", "json"})].format;
  request.arithmetic = arithmetic_from(texts.computation);
  request.page = page_of_run(texts, world, request.arithmetic);
  request.style = style_from(texts.page, world);
  return request;
}

bool tells_text(const Request& request) {
  if (request.outputs.empty()) return request.format == Format::text;
  return std::any_of(request.outputs.begin(), request.outputs.end(),
                     [](const auto& o) { return o.second == Format::text; });
}

constexpr Text no_such_step = {"this problem has none of the steps that --steps names, so none is shown",
                               "这道题没有 --steps 所列的步骤，因此没有内容可显示"};

class Run {
 public:
  Run(const RunOptionTexts& texts, Request request, World& world)
      : texts_(texts), request_(std::move(request)), world_(world), problem_(read_problem(request_.problem, world)) {
    choose_item(texts_.computation, request_.page, problem_);
    if (texts_.heads)
      request_.page.selection.heads =
          parse_numbers("--heads", *texts_.heads, problem_.heads, static_cast<int>(request_.page.index_base), "head");
    plan_ = make_plan(problem_);
  }

  void tell_everything() {
    // The files are opened before the computation, so that a folder that cannot be written is known at once.
    refuse_overwriting(paths(), {request_.problem});
    std::deque<OutputFile> files;
    for (const auto& [path, format] : request_.outputs) files.emplace_back(path);
    trace_ = run(plan_, {values_to_keep(plan_, request_.page.selection, tells_text(request_)),
                         request_.arithmetic.dtype,
                         request_.arithmetic.rounding,
                         {},
                         request_.arithmetic.threads});
    if (!texts_.quiet && !shows_any_step()) tell(world_, std::string(no_such_step.in(request_.page.language)));
    if (!texts_.quiet)
      for (const std::string& warning : warnings(problem_, plan_, request_.page)) tell(world_, warning);
    TextStyle plain = request_.style;
    plain.color = false;
    for (std::size_t i = 0; i < files.size(); ++i) write(files[i].sink(), request_.outputs[i].second, plain);
    commit_all(files);
    if (files.empty()) write_to_stdout();
  }

 private:
  std::vector<std::string> paths() const {
    std::vector<std::string> result;
    for (const auto& output : request_.outputs) result.push_back(output.first);
    return result;
  }

  bool shows_any_step() const {
    return std::any_of(plan_.values.begin(), plan_.values.end(),
                       [this](const Value& value) { return value.step && request_.page.selection.has(*value.step); });
  }

  Document page() const { return describe(problem_, plan_, trace_, request_.page); }

  void write(Sink& sink, Format format, const TextStyle& style) const {
    switch (format) {
      case Format::text: sink.write(write_text(page(), style)); break;
      case Format::json: write_trace(sink, problem_, plan_, trace_, request_.page.selection, texts_.with_weights); break;
    }
  }

  void write_to_stdout() {
    if (texts_.pause && request_.format == Format::text)
      show_step_by_step(page(), request_.style, world_);
    else
      write(world_.out, request_.format, request_.style);
  }

  const RunOptionTexts& texts_;
  Request request_;
  World& world_;
  Problem problem_;
  Plan plan_;
  Trace trace_;
};

constexpr std::string_view examples_of_use =
    "examples:\n"
    "  mha run                                    the worked 3×4 example\n"
    "  mha run mine.json --round 3                each step rounded, as with a pencil\n"
    "  mha run mine.json -o trace.json            every step as JSON\n"
    "  mha run packed --steps packed,Q --heads 2  only these steps, only head 2\n"
    "  mha run bag_zh --lang zh --steps weights   in Chinese\n"
    "  cat mine.json | mha run -                  from standard input";

void declare_run_options(CLI::App& app, RunOptionTexts& texts) {
  app.add_option("PROBLEM", texts.problem, "a file, - for standard input, or an example's name (default: worked)");
  app.add_option("-o,--output", texts.output, "write to this file: .json the trace, .txt the page (repeatable)")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  declare_option(app, "--steps", texts.steps, "LIST",
                 "show and export only these steps, such as scores,weights or Q-V or packed");
  declare_option(app, "--heads", texts.heads, "LIST", "show and export only these heads, such as 1,3-5");
  declare_option(app, "--format", texts.format, "text|json", "what to print (text)");
  declare_option(app, "--work", texts.work, "first|all|none", "which entries are spelled out (first)");
  declare_computation_options(app, texts.computation);
  declare_page_options(app, texts.page);
  app.add_flag("--full", texts.full, "print large matrices whole");
  app.add_flag("--with-weights", texts.with_weights, "put the weights and masks into the JSON as well");
  app.add_flag("--pause", texts.pause, "on a terminal: one step, then Enter for the next, q to end");
  app.add_flag("-q,--quiet", texts.quiet, "no warnings");
  app.footer(std::string(examples_of_use));
}

}  // namespace

Action setup_run(CLI::App& app) {
  auto texts = std::make_shared<RunOptionTexts>();
  declare_run_options(app, *texts);
  return [texts](World& world) {
    if (texts->pause && !(world.input_is_terminal && world.output_is_terminal))
      throw Error("--pause waits for Enter after each step, which needs a terminal; leave it out to print everything");
    Run(*texts, request_from(*texts, world), world).tell_everything();
    return Exit::fine;
  };
}

}  // namespace mha
