// Reports for other programs.
#include "study/check/report_files.hpp"

#include <fmt/ranges.h>

#include "core/csv.hpp"
#include "io/json/writer.hpp"

namespace mha::study {
namespace {

bool tells(std::optional<Hint> hint, Hint level) {
  return !hint || *hint >= level;
}

// The ids of all findings, each once, in their order.
std::vector<std::string_view> mistakes_of(const Report& report, std::optional<Hint> hint) {
  std::vector<std::string_view> ids;
  if (!tells(hint, Hint::mistake)) return ids;
  for (const Finding& finding : report.findings)
    for (const Suspect& suspect : finding.suspects)
      for (const Mistake* mistake : {suspect.mistake, suspect.also})
        if (mistake != nullptr && std::find(ids.begin(), ids.end(), mistake->id) == ids.end()) ids.push_back(mistake->id);
  return ids;
}

class ReportJson {
 public:
  ReportJson(io::Sink& sink, const Telling& telling)
      : json_(sink), telling_(telling), hint_(telling.hint), words_(telling.language, telling.index_base, !telling.hint) {}

  void write(const std::vector<Report>& reports) {
    json_.begin_object();
    if (!telling_.summary_only) {
      json_.begin_array("answers");
      for (const Report& report : reports) write(report);
      json_.end();
    }
    json_.key("summary");
    write(Summary(reports));
    json_.finish();
  }

 private:
  void write(const Summary& summary) {
    json_.begin_object();
    for (const AnswerVerdictName& name : answer_verdicts)
      json_.integer(name.id, summary.answers[static_cast<std::size_t>(name.verdict)]);
    const auto write_counts = [&](std::string_view key, const auto& counts, auto write_row) {
      json_.begin_array(key);
      for (const auto& [what, count] : counts) {
        json_.begin_object(io::Spread::line);
        write_row(what, count);
        json_.end();
      }
      json_.end();
    };
    write_counts("steps", summary.steps, [&](const LayerStep& step, Index count) {
      write_step(step);
      json_.integer("first_wrong", count);
    });
    if (tells(hint_, Hint::mistake))
      write_counts("mistakes", summary.mistakes, [&](const Mistake* mistake, Index count) {
        json_.key("id");
        mistake == nullptr ? json_.null() : json_.text(mistake->id);
        json_.integer("count", count);
      });
    json_.end();
  }

  void write(const Report& report) {
    json_.begin_object();
    json_.text("name", report.name);
    json_.text("file", report.file);
    json_.text("verdict", name_of(report.verdict()).id);
    json_.number("score", report.score);
    json_.integer("given", report.given);
    json_.integer("of", report.of);
    json_.key("first_wrong");
    report.findings.empty() ? json_.null() : write_place(report.findings.front());
    json_.begin_array("mistakes", io::Spread::line);
    for (const std::string_view id : mistakes_of(report, hint_)) json_.text(id);
    json_.end();
    json_.begin_array("steps");
    for (const StepVerdict& step : report.steps) write(step);
    json_.end();
    json_.text("message", words_.message(report, hint_));
    json_.end();
  }

  // Files count heads from 1.
  void write_place(const Finding& finding) {
    const bool tells_head = finding.of_one_head() && tells(hint_, Hint::place);
    json_.begin_object(io::Spread::line);
    write_step(finding);
    json_.integer("head", tells_head ? std::optional(finding.heads.front() + 1) : std::nullopt);
    json_.end();
  }

  void write_step(const LayerStep& step) {
    if (step.own_layer()) json_.integer("layer", *step.layer + 1);
    json_.text("step", name_of(step.step).id);
  }

  void write(const StepVerdict& step) {
    const bool given = step.verdict != Verdict::not_given;
    json_.begin_object(io::Spread::line);
    write_step(step);
    json_.integer("head", step.head ? std::optional(*step.head + 1) : std::nullopt);
    json_.text("verdict", name_of(step.verdict).id);
    json_.key("max_difference");  // which gives the true number away
    given&& step.same_shape && !hint_ ? json_.number(step.max_difference) : json_.null();
    json_.integer("entries_wrong", given && tells(hint_, Hint::place) ? std::optional(step.entries_wrong) : std::nullopt);
    json_.end();
  }

  io::JsonWriter json_;
  const Telling& telling_;
  std::optional<Hint> hint_;
  ReportWords words_;
};

// One line for each head of the step that is not simply right.
std::string lines_of(const Report& report, const LayerStep& step, const ReportWords& words) {
  std::string text;
  for (const StepVerdict& verdict : report.steps)
    if (LayerStep(verdict) == step && (verdict.verdict != Verdict::right || verdict.has_blanks))
      text += (text.empty() ? "" : "\n") + words.symbol(verdict.step, verdict.head) +
              (words.language() == Language::zh ? "：" : ": ") + words.verdict(verdict);
  return text;
}

std::string output_of(const Report& report, const ReportWords& words, std::optional<Hint> hint) {
  std::string text;
  const std::vector<std::string> sentences =
      report.findings.empty() ? std::vector{words.verdict(report)} : words.hint(report, hint.value_or(Hint::mistake));
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "\n") + sentence;
  for (const Saying& remark : report.remarks) text += "\n" + remark.in(words.language());
  return text;
}

class ResultsJson {
 public:
  explicit ResultsJson(io::Sink& sink) : json_(sink) {}

  void write(const Report& report, const Grading& grading, const std::string& output, const ReportWords& words) {
    const std::vector<GradedStep> steps = graded_steps(report, grading);
    double score = 0;
    for (const GradedStep& step : steps) score += step.right() * step.points;
    json_.begin_object();
    json_.number("score", score);
    json_.text("output", output);
    json_.text("visibility", "visible");
    json_.begin_array("tests");
    for (const GradedStep& step : steps) write(step, lines_of(report, step, words), words);
    json_.finish();
  }

 private:
  void write(const GradedStep& step, const std::string& output, const ReportWords& words) {
    json_.begin_object(io::Spread::line);
    json_.text("name", words.title_in_layer(step));
    json_.number("score", step.right() * step.points);
    json_.number("max_score", step.points);
    json_.text("status", step.right() == 1 ? "passed" : "failed");
    json_.text("output", output);
    json_.text("visibility", "visible");
    json_.end();
  }

  io::JsonWriter json_;
};

}  // namespace

void write_report_json(io::Sink& sink, const std::vector<Report>& reports, const Telling& telling) {
  ReportJson(sink, telling).write(reports);
}

void write_report_csv(io::Sink& sink, const std::vector<Report>& reports, const Telling& telling) {
  const ReportWords words(telling.language, telling.index_base, !telling.hint);
  const auto write = [&](const std::vector<std::string>& fields) { sink.write(csv_line(fields, "\r\n")); };
  if (telling.summary_only) {
    const Summary summary(reports);
    write({"what", "name", "count"});
    for (const AnswerVerdictName& name : answer_verdicts)
      write({"verdict", std::string(name.id), std::to_string(summary.answers[static_cast<std::size_t>(name.verdict)])});
    for (const auto& [step, count] : summary.steps) write({"first_wrong", step.id(), std::to_string(count)});
    if (tells(telling.hint, Hint::mistake))
      for (const auto& [mistake, count] : summary.mistakes)
        write({"mistake", mistake == nullptr ? "" : std::string(mistake->id), std::to_string(count)});
    return;
  }
  write({"name", "verdict", "score", "given", "of", "first_wrong", "mistakes", "message"});
  for (const Report& report : reports) {
    const std::string step = report.findings.empty() ? "" : report.findings.front().id();
    write({csv_text(report.name), std::string(name_of(report.verdict()).id), fmt::format("{}", report.score),
           std::to_string(report.given), std::to_string(report.of), step,
           fmt::format("{}", fmt::join(mistakes_of(report, telling.hint), " ")),
           csv_text(words.message(report, telling.hint))});
  }
}

void write_report_gradescope(io::Sink& sink, const Report& report, const Grading& grading, const Telling& telling) {
  const ReportWords words(telling.language, telling.index_base, false);
  ResultsJson(sink).write(report, grading, output_of(report, words, telling.hint), words);
}

}  // namespace mha::study
