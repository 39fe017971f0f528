// What check found in one answer.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "study/check/exactness.hpp"
#include "study/check/given.hpp"
#include "study/mistakes/mistake.hpp"

namespace mha::study {

enum class Verdict { right, following, wrong, not_given };

struct VerdictName {
  Verdict verdict;
  std::string_view id;
  Text text;
};
inline constexpr std::array verdict_names = {
    VerdictName{Verdict::right, "right", {"right", "正确"}},
    VerdictName{Verdict::following, "following", {"right, following from the error above", "正确，只是沿用了前面的错误"}},
    VerdictName{Verdict::wrong, "wrong", {"wrong here", "此处错误"}},
    VerdictName{Verdict::not_given, "not_given", {"not given", "未给出"}},
};
constexpr const VerdictName& name_of(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

// On a whole answer; the highest exit code of all answers is that of the program.
enum class AnswerVerdict { right, incomplete, wrong, missing, unusable };

struct AnswerVerdictName {
  AnswerVerdict verdict;
  std::string_view id;
  Text text;
  Exit exit;
};
inline constexpr std::array answer_verdicts = {
    AnswerVerdictName{AnswerVerdict::right, "right", {"right", "正确"}, Exit::fine},
    AnswerVerdictName{AnswerVerdict::incomplete, "incomplete", {"incomplete", "未完成"}, Exit::difference},
    AnswerVerdictName{AnswerVerdict::wrong, "wrong", {"wrong", "错误"}, Exit::difference},
    AnswerVerdictName{AnswerVerdict::missing, "missing", {"missing", "未提交"}, Exit::difference},
    AnswerVerdictName{AnswerVerdict::unusable, "unusable", {"unusable", "无法评阅"}, Exit::bad_input},
};
constexpr const AnswerVerdictName& name_of(AnswerVerdict verdict) {
  return answer_verdicts[static_cast<std::size_t>(verdict)];
}

// One step of one head, or of all heads together.
struct StepVerdict : LayerStep {
  std::optional<Index> head;  // from 0
  Verdict verdict = Verdict::not_given;
  // Against what follows from the person's own earlier numbers. NaN or infinite where one of two numbers is.
  double max_difference = 0;
  Index entries_wrong = 0;
  bool same_shape = true;
  bool is_in_problem = true;  // it has such a head
  bool has_blanks = false;    // entries that were not filled in
};

// What the numbers show where no known mistake fits. `number` is told as well where true numbers may be.
struct Sign {
  Text what;
  std::string number;
  bool explains = false;  // it says what happened
};

struct Suspect {
  const Mistake* mistake = nullptr;
  std::string detail;             // which form of it
  const Mistake* also = nullptr;  // made together with it
  // Of these the last was made in this layer before, of which nothing is given.
  std::optional<int> earlier = {};
};

// Rows of masked scores where other keys are hidden than should be.
struct OtherKeys {
  Index item = 0;
  std::vector<Index> rows;             // with the same keys
  std::vector<Index> hidden, visible;  // as they should be
};

// A step that does not follow from the person's own earlier numbers.
struct Finding : LayerStep {
  std::vector<Index> heads;          // in which it is wrong, from 0; the single 0 for a step of all heads
  std::vector<Suspect> suspects;     // the most likely first; the numbers cannot tell them apart. Empty: no known mistake
  bool in_these_heads_only = false;  // the suspects were made in `heads`, and not in the others
  Index entries = 0;                 // of this step, all of which match the suspects
  Index later_steps = 0;             // so many given steps behind it match them as well
  bool to_the_end = false;           // all of those that were given
  std::optional<Sign> sign;
  Layout layout = Layout::x_at_w;  // of the problem's weights
  bool begins = true;              // nothing was given before this step
  std::vector<OtherKeys> keys;     // of the first of these heads, where other keys are hidden than should be

  GivenMatrix given;   // of the first of these heads
  Uncertain expected;  // of all heads, with the tolerance

  bool of_one_head() const { return name_of(step).per_head; }
};

// Matrices that were judged alike.
struct Judged {
  NumberForm form;
  std::vector<std::pair<LayerStep, Index>> matrices;  // step and head from 0
};

struct Report {
  std::string name, file;          // whose it is, and where
  std::optional<Saying> unusable;  // why it cannot be read
  bool missing = false;            // nothing was handed in
  int layers = 1;
  std::vector<StepVerdict> steps;  // of the plan, all heads of a step before the next
  std::vector<Finding> findings;   // in the order of the computation; empty: all that was given is right
  std::vector<Saying> remarks;
  std::vector<Saying> unknown;  // keys that were passed over
  std::vector<Judged> judged;   // the form of most matrices first
  int decimals = 0;             // the most that are written
  Index blanks = 0;             // entries of given matrices that were not filled in
  Index inferred = 0;           // matrices that were not given, but the next layer reads them
  bool all_blank = false;       // there are matrices, with nothing filled in

  // As it is graded.
  Index given = 0, of = 0;         // matrices, without X
  bool asks_for_gradients = true;  // not of an answer that names none: they count only where they are required
  std::vector<LayerStep> lacking;  // steps that are required and not given for all heads
  double score = 0;                // from 0 to 1

  AnswerVerdict verdict() const {
    if (missing) return AnswerVerdict::missing;
    if (unusable) return AnswerVerdict::unusable;
    if (!findings.empty()) return AnswerVerdict::wrong;
    return blanks > 0 || all_blank || !lacking.empty() ? AnswerVerdict::incomplete : AnswerVerdict::right;
  }
  // Whether any was given.
  bool has_gradients() const {
    return std::any_of(steps.begin(), steps.end(), [](const StepVerdict& step) {
      return is_gradient(step.step) && step.verdict != Verdict::not_given;
    });
  }
  bool is_incomplete() const { return verdict() == AnswerVerdict::incomplete; }
  bool is_right() const { return verdict() == AnswerVerdict::right; }
};

}  // namespace mha::study
