// Gradescope's results.json: a step is right when all its given heads follow from the person's own earlier numbers.
#include <algorithm>

#include "io/json/writer.hpp"
#include "study/check/report_files.hpp"

namespace mha::study {
namespace {

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
    if (verdict.verdict == Verdict::wrong) step.right = false;
    if (verdict.verdict == Verdict::right) continue;
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
    json_.begin_object(io::JsonWriter::Spread::line);
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

void write_report_gradescope(io::Sink& sink, const Report& report, Language language, Index index_base,
                             std::optional<Hint> hint) {
  const ReportWords words(language, index_base, false);
  ResultsJson(sink).write(graded_steps(report, words), output_of(report, words, hint), words);
}

}  // namespace mha::study
