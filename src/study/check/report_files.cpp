// Reports for other programs.
#include "study/check/report_files.hpp"

#include <algorithm>

#include "io/files/csv.hpp"
#include "io/json/writer.hpp"

namespace mha::study {
namespace {

using Spread = io::JsonWriter::Spread;

std::string_view verdict_of(const Report& report) {
  return report.unusable ? "unusable" : report.is_right() ? "right" : "wrong";
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
    if (report.unusable) json_.text("message", *report.unusable);
    json_.key("first_wrong");
    if (report.findings.empty())
      json_.null();
    else
      write_place(name_of(report.findings.front().step).id, head_of(report.findings.front()));
    json_.key("mistakes");
    json_.begin_array(Spread::line);
    for (const std::string_view id : mistakes_of(report, hint_)) json_.text(id);
    json_.end();
    json_.key("steps");
    json_.begin_array();
    for (const StepVerdict& step : report.steps) write(step);
    json_.end();
    json_.end();
  }

  void write_place(std::string_view step, std::optional<Index> head) {
    json_.begin_object(Spread::line);
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
    json_.begin_object(Spread::line);
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
    sink.write(io::csv_line({report.name, std::string(verdict_of(report)), step, head, ids, report.unusable.value_or("")},
                            "\r\n"));
  }
}

}  // namespace mha::study
