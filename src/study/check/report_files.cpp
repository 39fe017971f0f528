// Reports for other programs.
#include "study/check/report_files.hpp"

#include <algorithm>

#include "core/csv.hpp"
#include "io/json/writer.hpp"

namespace mha::study {
namespace {

std::string_view verdict_of(const Report& report) {
  return report.unusable ? "unusable" : report.is_wrong() ? "wrong" : report.is_incomplete() ? "incomplete" : "right";
}

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

// Files count heads from 1.
std::optional<Index> head_of(const Finding& finding) {
  return finding.of_one_head() ? std::optional(finding.heads.front() + 1) : std::nullopt;
}

class ReportJson {
 public:
  ReportJson(io::Sink& sink, std::optional<Hint> hint) : json_(sink), hint_(hint) {}

  void write(const std::vector<Report>& reports) {
    json_.begin_object();
    json_.key("answers");
    json_.begin_array();
    for (const Report& report : reports) write(report);
    json_.end();
    json_.end();
    json_.finish();
  }

 private:
  void write(const Report& report) {
    json_.begin_object();
    json_.text("file", report.name);
    json_.text("verdict", verdict_of(report));
    if (report.unusable) json_.text("message", report.unusable->en);
    json_.key("first_wrong");
    if (report.findings.empty())
      json_.null();
    else
      write_place(name_of(report.findings.front().step).id, head_of(report.findings.front()));
    json_.key("mistakes");
    json_.begin_array(io::Spread::line);
    for (const std::string_view id : mistakes_of(report, hint_)) json_.text(id);
    json_.end();
    json_.key("steps");
    json_.begin_array();
    for (const StepVerdict& step : report.steps) write(step);
    json_.end();
    json_.end();
  }

  void write_place(std::string_view step, std::optional<Index> head) {
    json_.begin_object(io::Spread::line);
    write_step(step, tells(hint_, Hint::place) ? head : std::nullopt);
    json_.end();
  }

  void write_step(std::string_view step, std::optional<Index> head) {
    json_.text("step", step);
    json_.key("head");
    if (head)
      json_.integer(*head);
    else
      json_.null();
  }

  void write(const StepVerdict& step) {
    const bool given = step.verdict != Verdict::not_given;
    json_.begin_object(io::Spread::line);
    write_step(name_of(step.step).id, step.head ? std::optional(*step.head + 1) : std::nullopt);
    json_.text("verdict", name_of(step.verdict).id);
    json_.key("max_difference");
    if (given && step.same_shape && !hint_)
      json_.number(step.max_difference);
    else
      json_.null();  // a difference gives the true number away
    json_.key("entries_wrong");
    if (given && tells(hint_, Hint::place))
      json_.integer(step.entries_wrong);
    else
      json_.null();
    json_.end();
  }

  io::JsonWriter json_;
  std::optional<Hint> hint_;
};

// Gradescope: a step is right when all its given heads follow from the person's own earlier numbers.
struct GradedStep {
  StepId step;
  bool right = true;
  std::string output;  // one line for each head that is not simply right
};

std::vector<GradedStep> graded_steps(const Report& report, const ReportWords& words) {
  std::vector<GradedStep> steps;
  for (const StepVerdict& verdict : report.steps) {
    if (verdict.verdict == Verdict::not_given) continue;
    if (verdict.step == StepId::X && verdict.verdict == Verdict::right) continue;  // copied, not computed
    if (steps.empty() || steps.back().step != verdict.step) steps.push_back({verdict.step, true, {}});
    GradedStep& step = steps.back();
    if (verdict.verdict == Verdict::wrong || verdict.has_blanks) step.right = false;
    if (verdict.verdict == Verdict::right && !verdict.has_blanks) continue;
    step.output += (step.output.empty() ? "" : "\n") + words.symbol(verdict.step, verdict.head) +
                   (words.language() == Language::zh ? "：" : ": ") + words.verdict(verdict);
  }
  return steps;
}

std::string output_of(const Report& report, const ReportWords& words, std::optional<Hint> hint) {
  std::string text;
  const std::vector<std::string> sentences =
      report.unusable ? std::vector{words.verdict(report)} : words.hint(report, hint.value_or(Hint::mistake));
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "\n") + sentence;
  for (const Text& remark : report.remarks) text += "\n" + std::string(remark.in(words.language()));
  return text;
}

class ResultsJson {
 public:
  explicit ResultsJson(io::Sink& sink) : json_(sink) {}

  void write(const std::vector<GradedStep>& steps, const std::string& output, const ReportWords& words) {
    const auto right = std::count_if(steps.begin(), steps.end(), [](const GradedStep& step) { return step.right; });
    json_.begin_object();
    json_.integer("score", right);
    json_.text("output", output);
    json_.text("visibility", "visible");
    json_.key("tests");
    json_.begin_array();
    for (const GradedStep& step : steps) write(step, words);
    json_.end();
    json_.end();
    json_.finish();
  }

 private:
  void write(const GradedStep& step, const ReportWords& words) {
    json_.begin_object(io::Spread::line);
    json_.text("name", words.title(step.step));
    json_.integer("score", step.right ? 1 : 0);
    json_.integer("max_score", 1);
    json_.text("status", step.right ? "passed" : "failed");
    json_.text("output", step.output);
    json_.text("visibility", "visible");
    json_.end();
  }

  io::JsonWriter json_;
};

}  // namespace

void write_report_json(io::Sink& sink, const std::vector<Report>& reports, std::optional<Hint> hint) {
  ReportJson(sink, hint).write(reports);
}

void write_report_csv(io::Sink& sink, const std::vector<Report>& reports, std::optional<Hint> hint) {
  sink.write("file,verdict,step,head,mistakes,message\r\n");
  for (const Report& report : reports) {
    std::string step, head, ids;
    if (!report.findings.empty()) step = name_of(report.findings.front().step).id;
    if (!report.findings.empty() && tells(hint, Hint::place))
      if (const std::optional<Index> place = head_of(report.findings.front())) head = std::to_string(*place);
    for (const std::string_view id : mistakes_of(report, hint)) ids += (ids.empty() ? "" : " ") + std::string(id);
    sink.write(csv_line(
        {report.name, std::string(verdict_of(report)), step, head, ids, report.unusable ? report.unusable->en : ""},
        "\r\n"));
  }
}

void write_report_gradescope(io::Sink& sink, const Report& report, Language language, Index index_base,
                             std::optional<Hint> hint) {
  const ReportWords words(language, index_base, false);
  ResultsJson(sink).write(graded_steps(report, words), output_of(report, words, hint), words);
}

}  // namespace mha::study
