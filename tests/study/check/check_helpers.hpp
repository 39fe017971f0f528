// Traces handed in as answers, and what check says of them.
#pragma once

#include "folders.hpp"

#include <algorithm>

#include "io/problem/answer.hpp"
#include "study/check/check.hpp"
#include "study/check/random_study_problem.hpp"
#include "study/check/worked_out.hpp"
#include "study/mistakes/plain_answers.hpp"

namespace mha::test {

inline Report check_text(const Checker& checker, const std::string& answer) {
  return checker.check(read_answer_line(answer, "answer", 1));
}

inline Report check_trace(const Checker& checker, const PlainTrace& trace, AnswerForm form = AnswerForm::nested) {
  return check_text(checker, answer_text(trace, form));
}

inline bool is_suspected(const Finding& finding, std::string_view id) {
  return std::any_of(finding.suspects.begin(), finding.suspects.end(),
                     [&](const Suspect& suspect) { return suspect.mistake->id == id; });
}

// What was found first, for messages: "scaled 1: no_scale scale_dk".
inline std::string told(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += std::string(text.empty() ? "" : "; ") + std::string(name_of(finding.step).id);
    if (finding.of_one_head()) text += " " + std::to_string(finding.heads.front() + 1);
    text += ":";
    for (const Suspect& suspect : finding.suspects) text += " " + std::string(suspect.mistake->id);
    if (finding.sign) text += " (" + std::string(finding.sign->what.en) + " " + finding.sign->number + ")";
  }
  return text.empty() ? "right" : text;
}

}  // namespace mha::test
