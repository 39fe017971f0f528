// mha check: compares answers with what follows from them, step by step, and names the likely mistake.
#include "study/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/page_options.hpp"
#include "cli/progress.hpp"
#include "cli/values.hpp"
#include "io/files/file_identity.hpp"
#include "io/files/output_file.hpp"
#include "study/check/report_files.hpp"
#include "study/check/report_page.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct CheckOptionTexts {
  std::optional<std::string> problem;
  std::vector<std::string> answers;
  std::optional<std::string> tol, rtol, sigfig, hint, format, output, threads;
  PageOptionTexts page;
  bool allow_outside = false;
};

enum class Format { text, json, csv, gradescope };
const std::vector<std::string_view> format_names = {"text", "json", "csv", "gradescope"};

constexpr int most_threads = 256;

// By --format, or by the ending of the output file.
Format format_of(const CheckOptionTexts& texts) {
  if (texts.format) return static_cast<Format>(parse_choice("--format", *texts.format, format_names));
  if (texts.output && texts.output->ends_with(".json")) return Format::json;
  if (texts.output && texts.output->ends_with(".csv")) return Format::csv;
  return Format::text;
}

study::ToleranceOptions tolerance_from(const CheckOptionTexts& texts) {
  study::ToleranceOptions tolerance;
  if (texts.tol) tolerance.tol = parse_tolerance("--tol", *texts.tol);
  if (texts.rtol) tolerance.rtol = parse_tolerance("--rtol", *texts.rtol);
  if (texts.sigfig) tolerance.sigfig = parse_number("--sigfig", *texts.sigfig, 1, 17);
  if (tolerance.sigfig && (tolerance.tol || tolerance.rtol))
    throw Error("--sigfig says how exactly the numbers are written, --tol and --rtol how far they may be off; give one");
  return tolerance;
}

std::optional<study::Hint> hint_from(const CheckOptionTexts& texts) {
  if (!texts.hint) return std::nullopt;
  return static_cast<study::Hint>(parse_number("--hint", *texts.hint, 1, 3));
}

int threads_from(const CheckOptionTexts& texts) {
  return compute::thread_count(texts.threads ? parse_number("--threads", *texts.threads, 1, most_threads) : 0);
}

void refuse_two_standard_inputs(const CheckOptionTexts& texts) {
  const auto dashes = std::count(texts.answers.begin(), texts.answers.end(), "-") + (texts.problem == "-" ? 1 : 0);
  if (dashes > 1) throw Error("standard input can be read once only; write - for the problem or for one answer");
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
        format_(format_of(texts)),
        tolerance_(tolerance_from(texts)),
        hint_(hint_from(texts)),
        page_(page_from(texts.page, world)),
        style_(style_from(texts.page, world)) {}

  Exit run() {
    refuse_two_standard_inputs(texts_);
    const int threads = threads_from(texts_);
    const Problem problem = read_problem(*texts_.problem, world_, texts_.allow_outside);
    const std::vector<io::AnswerSource> answers = io::find_answers(texts_.answers, world_.input);
    if (format_ == Format::gradescope && answers.size() != 1)
      throw Error(fmt::format("--format gradescope is for one answer at a time, but there are {}", answers.size()));
    std::deque<io::OutputFile> files;
    open_output(problem, answers, files);
    const std::vector<study::Report> reports = check(study::Checker(problem, tolerance_), answers, threads);
    const bool nothing_to_show = format_ == Format::text && reports.size() == 1 && reports.front().unusable;
    if (!nothing_to_show) {
      write(files.empty() ? world_.out : files.front().sink(), reports, problem);
      io::commit_all(files);
    }
    for (const study::Report& report : reports)
      if (report.unusable) tell(world_, *report.unusable);
    return exit_of(reports);
  }

 private:
  void open_output(const Problem& problem, const std::vector<io::AnswerSource>& answers,
                   std::deque<io::OutputFile>& files) const {
    if (!texts_.output) return;
    std::vector<std::string> inputs = texts_.answers;
    inputs.insert(inputs.end(), problem.files.begin(), problem.files.end());
    for (const io::AnswerSource& answer : answers) inputs.push_back(answer.name);
    inputs.push_back(*texts_.problem);
    io::refuse_overwriting({*texts_.output}, inputs);
    files.emplace_back(*texts_.output);
  }

  std::vector<study::Report> check(const study::Checker& checker, const std::vector<io::AnswerSource>& answers,
                                   int threads) const {
    Progress progress(world_, answers.size());
    std::vector<study::Report> reports =
        study::check_all(checker, answers, threads, [&](std::size_t done) { progress.show(done); });
    progress.clear();
    return reports;
  }

  void write(io::Sink& sink, const std::vector<study::Report>& reports, const Problem& problem) const {
    show::TextStyle style = style_;
    if (texts_.output) style.color = false;
    switch (format_) {
      case Format::text: sink.write(show::write_text(describe(reports, problem, page_, hint_), style)); break;
      case Format::json: study::write_report_json(sink, reports, hint_); break;
      case Format::csv: study::write_report_csv(sink, reports, hint_); break;
      case Format::gradescope:
        study::write_report_gradescope(sink, reports.front(), page_.language, page_.index_base, hint_);
        break;
    }
  }

  const CheckOptionTexts& texts_;
  World& world_;
  Format format_;
  study::ToleranceOptions tolerance_;
  std::optional<study::Hint> hint_;
  show::PageOptions page_;
  show::TextStyle style_;
};

constexpr std::string_view examples_of_use =
    "An answer holds any part of a trace: {\"heads\": [{\"weights\": ...}], \"output\": ...}, or flat: {\"A1\": ..., "
    "\"Y\": ...}.\n"
    "Each step is judged from the answer's own numbers before it, as exactly as they are written.\n"
    "exit code: 0 all right, 1 something is wrong, 2 an answer cannot be read\n\n"
    "examples:\n"
    "  mha check worked answer.json                what is wrong, and why\n"
    "  mha check worked answer.json --hint 2       where to look, without a true number\n"
    "  mha check mine.json answers/ --format csv   a folder of answers, one line each\n"
    "  mha check worked class.jsonl -o report.json one answer a line, each with a \"name\"";

void declare_options(CLI::App& app, CheckOptionTexts& texts) {
  declare_argument(app, "PROBLEM", texts.problem, "a file, - for standard input, or an example's name");
  declare_arguments(app, "ANSWER", texts.answers,
                    "files, folders of .json files, or .jsonl files with one answer on each line");
  declare_option(app, "--hint", texts.hint, "1|2|3", "tell only the step, or also the place, or also the mistake in words");
  declare_option(app, "--tol", texts.tol, "X", "how far a number may be off (by default as its decimals imply)");
  declare_option(app, "--rtol", texts.rtol, "X", "the same as a share of the number");
  declare_option(app, "--sigfig", texts.sigfig, "N", "the numbers are written to N significant figures");
  declare_option(app, "--format", texts.format, "text|json|csv|gradescope", "what to print (text)");
  declare_option(app, "-o,--output", texts.output, "FILE", "write to this file; .json and .csv say the format");
  declare_option(app, "--threads", texts.threads, "N", "how many answers are checked at a time (one for each core)");
  declare_page_options(app, texts.page);
  declare_allow_outside(app, texts.allow_outside);
  declare_footer(app, examples_of_use);
}

}  // namespace

Action setup_check(CLI::App& app) {
  auto texts = std::make_shared<CheckOptionTexts>();
  declare_options(app, *texts);
  return [texts](World& world) {
    if (!texts->problem || texts->answers.empty())
      throw Error("name a problem and at least one answer: mha check worked answer.json");
    return Check(*texts, world).run();
  };
}

}  // namespace mha::cli
