// mha check: compares answers with what follows from them, step by step, and names the likely mistake.
#include "study/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/values.hpp"
#include "study/check/report_files.hpp"
#include "study/check/report_page.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct CheckOptionTexts {
  std::optional<std::string> problem;
  std::vector<std::string> answers;
  std::optional<std::string> tol, rtol, sigfig, dtype, hint, threads;
  OutputTexts output;
  PageOptionTexts page;
  bool allow_outside = false;
};

constexpr std::array check_formats = {Format::Kind::page, Format::Kind::json, Format::Kind::csv, Format::Kind::gradescope};

study::ToleranceOptions tolerance_from(const CheckOptionTexts& texts) {
  study::ToleranceOptions tolerance;
  if (texts.tol) tolerance.tol = parse_tolerance("--tol", *texts.tol);
  if (texts.rtol) tolerance.rtol = parse_tolerance("--rtol", *texts.rtol);
  if (texts.sigfig) tolerance.sigfig = parse_number("--sigfig", *texts.sigfig, 1, 17);
  if (texts.dtype) {
    std::vector<std::string_view> names;
    for (const study::Floats& kind : study::float_kinds) names.push_back(kind.option);
    tolerance.floats = &study::float_kinds[parse_choice("--dtype", *texts.dtype, names)];
  }
  if (tolerance.sigfig && (tolerance.tol || tolerance.rtol))
    throw Error("--sigfig says how exactly the numbers are written, --tol and --rtol how far they may be off; give one");
  return tolerance;
}

std::optional<study::Hint> hint_from(const CheckOptionTexts& texts) {
  if (!texts.hint) return std::nullopt;
  return static_cast<study::Hint>(parse_number("--hint", *texts.hint, 1, 3));
}

Exit exit_of(const std::vector<study::Report>& reports) {
  Exit exit = Exit::fine;
  for (const study::Report& report : reports) {
    if (report.unusable) return Exit::bad_input;
    if (!report.is_right()) exit = Exit::difference;
  }
  return exit;
}

class Check {
 public:
  Check(const CheckOptionTexts& texts, World& world)
      : texts_(texts),
        world_(world),
        tolerance_(tolerance_from(texts)),
        hint_(hint_from(texts)),
        page_(page_from(texts.page, world)),
        output_(texts.output, check_formats, style_from(texts.page, world), world) {}

  Exit run() {
    std::vector<std::string> names = texts_.answers;
    names.push_back(texts_.problem.value_or(""));
    refuse_two_standard_inputs(names);
    const int threads = compute::thread_count(threads_from(texts_.threads));
    const Problem problem = read_problem(*texts_.problem, world_, texts_.allow_outside);
    const std::vector<io::AnswerSource> answers = io::find_answers(texts_.answers, world_.input);
    if (output_.kind() == Format::Kind::gradescope && answers.size() != 1)
      throw Error(fmt::format("--format gradescope is for one answer at a time, but there are {}", answers.size()));
    output_.open(inputs(problem, answers));
    const std::vector<study::Report> reports = check(study::Checker(problem, tolerance_), answers, threads);
    const bool nothing_to_show = output_.kind() == Format::Kind::page && reports.size() == 1 && reports.front().unusable;
    if (!nothing_to_show) {
      write(reports, problem);
      output_.finish();
    }
    for (const study::Report& report : reports)
      if (report.unusable) tell(world_, *report.unusable);
    return exit_of(reports);
  }

 private:
  std::vector<std::string> inputs(const Problem& problem, const std::vector<io::AnswerSource>& answers) const {
    std::vector<std::string> inputs = texts_.answers;
    inputs.insert(inputs.end(), problem.files.begin(), problem.files.end());
    for (const io::AnswerSource& answer : answers) inputs.push_back(answer.name);
    inputs.push_back(*texts_.problem);
    return inputs;
  }

  std::vector<study::Report> check(const study::Checker& checker, const std::vector<io::AnswerSource>& answers,
                                   int threads) const {
    Progress progress(world_, answers.size());
    std::vector<study::Report> reports =
        study::check_all(checker, answers, threads, [&](std::size_t done) { progress.show(done); });
    progress.clear();
    return reports;
  }

  void write(const std::vector<study::Report>& reports, const Problem& problem) {
    switch (output_.kind()) {
      case Format::Kind::page: return output_.write(describe(reports, problem, page_, hint_));
      case Format::Kind::json: return study::write_report_json(output_.sink(), reports, hint_);
      case Format::Kind::csv: return study::write_report_csv(output_.sink(), reports, hint_);
      case Format::Kind::gradescope:
        return study::write_report_gradescope(output_.sink(), reports.front(), page_.language, page_.index_base, hint_);
      case Format::Kind::arrays: return;  // not among those of check
    }
  }

  const CheckOptionTexts& texts_;
  World& world_;
  study::ToleranceOptions tolerance_;
  std::optional<study::Hint> hint_;
  show::PageOptions page_;
  Output output_;
};

constexpr std::string_view check_examples =
    "An answer holds any part of a trace: {\"heads\": [{\"weights\": ...}], \"output\": ...}, or flat: {\"A1\": ..., "
    "\"Y\": ...}.\n"
    "Each step is judged from the answer's own numbers before it, as exactly as they are written.\n"
    "exit code: 0 all right, 1 something is wrong, 2 an answer cannot be read\n\n"
    "examples:\n"
    "  mha check worked answer.json                what is wrong, and why\n"
    "  mha check worked answer.json --hint 2       where to look, without a true number\n"
    "  mha check mine.json answers/ --format csv   a folder of answers, one line each\n"
    "  mha check worked class.jsonl -o report.json one answer a line, each with a \"name\"";

void declare_check_options(CLI::App& app, CheckOptionTexts& texts) {
  declare_argument(app, "PROBLEM", texts.problem, "a file, - for standard input, or an example's name");
  declare_arguments(app, "ANSWER", texts.answers,
                    "files, folders of .json files, or .jsonl files with one answer on each line");
  declare_option(app, "--hint", texts.hint, "1|2|3", "tell only the step, or also the place, or also the mistake in words");
  declare_option(app, "--tol", texts.tol, "X", "how far a number may be off (by default as its decimals imply)");
  declare_option(app, "--rtol", texts.rtol, "X", "the same as a share of the number");
  declare_option(app, "--sigfig", texts.sigfig, "N", "the numbers are written to N significant figures");
  declare_option(app, "--dtype", texts.dtype, "f64|f32|f16|bf16",
                 "what the numbers were computed in (by default as they look)");
  declare_output(app, texts.output, check_formats);
  declare_threads(app, texts.threads);
  declare_page_options(app, texts.page);
  declare_allow_outside(app, texts.allow_outside);
  declare_footer(app, check_examples);
}

}  // namespace

Action setup_check(CLI::App& app) {
  auto texts = std::make_shared<CheckOptionTexts>();
  declare_check_options(app, *texts);
  return [texts](World& world) {
    if (!texts->problem || texts->answers.empty())
      throw Error("name a problem and at least one answer: mha check worked answer.json");
    return Check(*texts, world).run();
  };
}

}  // namespace mha::cli
