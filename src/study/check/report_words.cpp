// What is said of a report, in both languages.
#include "study/check/report_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"
#include "study/check/comparison.hpp"
#include "study/check/diagnose.hpp"
#include "study/cost/formula.hpp"

namespace mha::study {
namespace {

constexpr std::size_t most_entries_told = 6, most_gradients_told = 3;

constexpr Text all_right_but{"Right: everything that was given; {} not given.", "正确：给出的各步都对；{}未给出。"};
constexpr Text incomplete{"Incomplete: what is filled in is right; {}.", "未完成：已填的都对；{}。"};
constexpr Text still_missing{"not given: {}", "未给出：{}"};
constexpr Text missing_answer{"Missing: no answer was handed in, neither answer.json nor answer.npz.",
                              "未提交：没有交答卷，既没有 answer.json，也没有 answer.npz。"};
constexpr Text first_wrong_is{"Wrong: the first wrong step is {}.", "错误：最先出错的一步是{}。"};
constexpr Text first_wrong_and{"Wrong: the first wrong step is {}; {}.", "错误：最先出错的一步是{}；{}。"};
constexpr Text blank_entries{"blank entries: {}", "空着的元素：{} 个"};
constexpr Text other_shape{"wrong here: another shape", "此处错误：形状不符"};
constexpr Text no_such_head{"wrong here: no such head", "此处错误：没有这个头"};
constexpr Text in_head{"in head {}", "头 {}"};
constexpr Text in_heads{"in heads {}", "头 {}"};
constexpr Text of_entries{"{} of {} entries", "{1} 个元素中有 {0} 个"};
constexpr Text entries_match{"all {} entries of {} match", "{1}的全部 {0} 个元素都吻合"};
constexpr Text and_all_later{"all {} entries of {} and all later steps match", "{1}的全部 {0} 个元素以及后面的各步都吻合"};
constexpr Text and_next{"all {} entries of {} and the next step match", "{1}的全部 {0} 个元素以及下一步都吻合"};
constexpr Text and_some_later{"all {} entries of {} and the next {} steps match",
                              "{1}的全部 {0} 个元素吻合，紧接着的 {2} 步也吻合"};
constexpr Text only_in_these{"made {} only", "只在{}"};
constexpr Text no_known_mistake{"no known mistake gives these numbers", "没有已知的错误能得出这些数"};
constexpr Text one_of{"one of these, which the numbers cannot tell apart:", "下列错误之一，从数值上无法区分："};
constexpr Text in_earlier{"in layer {}, of which nothing is given: {}", "在第 {} 层（没有给出任何一步）：{}"};
constexpr Text two_together{"two mistakes together: {} — and {}", "两个错误同时出现：{}；并且：{}"};
constexpr Text before_is_right{"What was given before it is right.", "在它之前给出的各步都对。"};

// "A, B"
std::string joined(Language language, const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : show::say(language, show::phrase::comma)) + part;
  return text;
}

// The numbers of the heads of which this step is not given, where it is given of others.
std::vector<std::string> heads_without(const Report& report, const LayerStep& step, Index base) {
  std::vector<std::string> heads;
  bool any_given = false;
  for (const StepVerdict& verdict : report.steps) {
    if (LayerStep(verdict) != step || !verdict.head) continue;
    if (verdict.verdict == Verdict::not_given)
      heads.push_back(std::to_string(*verdict.head + base));
    else
      any_given = true;
  }
  return any_given ? heads : std::vector<std::string>();
}

// A sentence in English; "e^z" and "b_O" stay as they are.
std::string capitalised(std::string sentence) {
  const auto is_letter = [&](std::size_t i) { return std::isalpha(static_cast<unsigned char>(sentence[i])) != 0; };
  if (sentence.size() > 1 && is_letter(0) && (is_letter(1) || sentence[1] == ' '))
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

}  // namespace

std::vector<Entry> wrong_entries(const Finding& finding) {
  std::vector<Entry> entries;
  const Shape &own = finding.given.numbers.shape(), &right = finding.expected.numbers->shape();
  const Index head = finding.heads.front();
  if (head >= right.heads || !own.has_matrices_as(right)) return entries;
  for_each_entry(own, [&](const Entry& at) {
    if (finding.given.is_blank((at.item * own.rows + at.row) * own.cols + at.column)) return;
    const Entry there{at.item, head, at.row, at.column};
    if (!is_same(finding.given.numbers.at(at), finding.expected.numbers->at(there), finding.expected.radius->at(there)))
      entries.push_back(at);
  });
  return entries;
}

std::string ReportWords::verdict(const Report& report) const {
  if (report.missing) return show::say(language_, missing_answer);
  if (report.unusable) return show::say(language_, {"Unusable: {}", "无法评阅：{}"}, *report.unusable);
  if (!report.findings.empty()) {
    const std::string first = step(report.findings.front());
    return report.blanks == 0
               ? show::say(language_, first_wrong_is, first)
               : show::say(language_, first_wrong_and, first, show::say(language_, blank_entries, report.blanks));
  }
  if (report.all_blank) return show::say(language_, {"Incomplete: {}.", "未完成：{}。"}, gaps(report));
  if (report.is_incomplete()) return show::say(language_, incomplete, gaps(report));
  std::vector<LayerStep> missing;
  for (auto step = report.steps.begin(); step != report.steps.end();) {
    const auto of_other = [&](const StepVerdict& s) { return LayerStep(s) != LayerStep(*step); };
    const auto not_given = [](const StepVerdict& s) { return s.verdict == Verdict::not_given; };
    const auto end = std::find_if(step, report.steps.end(), of_other);
    if (step->step != StepId::X && std::all_of(step, end, not_given)) missing.push_back(LayerStep(*step));
    step = end;
  }
  return missing.empty() ? show::say(language_, {"Right: everything that was given.", "正确：给出的各步都对。"})
                         : show::say(language_, all_right_but, steps(missing));
}

std::string ReportWords::verdict(const StepVerdict& step) const {
  if (step.verdict == Verdict::wrong && !step.same_shape)
    return show::say(language_, step.is_in_problem ? other_shape : no_such_head);
  const std::string verdict(name_of(step.verdict).text.in(language_));
  return step.has_blanks ? show::say(language_, {"{}, with blanks", "{}，但有空着的元素"}, verdict) : verdict;
}

std::string ReportWords::gaps(const Report& report) const {
  if (report.all_blank) return show::say(language_, {"nothing is filled in", "什么都没有填"});
  std::string text = report.lacking.empty() ? "" : show::say(language_, still_missing, lacking(report));
  if (report.blanks > 0)
    text += (text.empty() ? "" : show::say(language_, show::phrase::semicolon)) +
            show::say(language_, blank_entries, report.blanks);
  return text;
}

// "heads 2, 3: Queries, Scores; Concatenation"
std::string ReportWords::lacking(const Report& report) const {
  std::string text;
  std::vector<LayerStep> alike;
  for (std::size_t i = 0; i < report.lacking.size(); ++i) {
    alike.push_back(report.lacking[i]);
    const std::vector<std::string> without = heads_without(report, alike.back(), base_);
    if (i + 1 < report.lacking.size() && heads_without(report, report.lacking[i + 1], base_) == without) continue;
    text += text.empty() ? "" : show::say(language_, show::phrase::semicolon);
    if (!without.empty())
      text +=
          show::say(language_, {"head{0} {1}: ", "头 {1}："}, without.size() > 1 ? "s" : "", joined(language_, without));
    text += steps(std::exchange(alike, {}));
  }
  return text;
}

std::string ReportWords::message(const Report& report, std::optional<Hint> level) const {
  if (report.unusable) return report.unusable->in(language_);
  std::vector<std::string> sentences;
  if (!report.is_right()) sentences = level ? hint(report, *level) : std::vector{verdict(report)};
  if (!level && !report.findings.empty())
    for (std::string& cause : causes(report.findings.front())) sentences.push_back(std::move(cause));
  for (const Saying& key : report.unknown) sentences.push_back(key.in(language_));
  std::string text;
  for (const std::string& sentence : sentences) {
    const bool ended = text.ends_with('.') || text.ends_with(':') || text.ends_with("。") || text.ends_with("：");
    const std::string between =
        ended ? language_ == Language::zh ? "" : " " : show::say(language_, show::phrase::semicolon);
    text += text.empty() ? sentence : between + (text.ends_with('.') ? capitalised(sentence) : sentence);
  }
  return text;
}

std::string ReportWords::title(StepId step) const {
  return show::title(step, language_);
}

std::string ReportWords::title_in_layer(const LayerStep& step) const {
  return in_layer(step, title(step.step));
}

std::string ReportWords::in_layer(const LayerStep& step, std::string text) const {
  if (!step.own_layer()) return text;
  return show::say(language_, {"{1} (layer {0})", "第 {0} 层的{1}"}, *step.layer + base_, text);
}

// "Queries, Keys"; of several layers "layer 1: Queries, Keys; layer 2: Queries".
std::string ReportWords::steps(std::vector<LayerStep> steps) const {
  std::string text;
  const std::vector<LayerStep> all = steps;
  std::erase_if(steps, [](const LayerStep& step) { return is_gradient(step.step); });
  const std::size_t gradients = all.size() - steps.size();
  if (gradients <= most_gradients_told) steps = all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::optional<int> layer = steps[i].own_layer();
    const bool goes_on = i > 0 && steps[i - 1].own_layer() == layer;
    if (i > 0) text += show::say(language_, goes_on ? show::phrase::comma : show::phrase::semicolon);
    if (layer && !goes_on) text += show::say(language_, show::phrase::in_layer, *layer + base_);
    text += title(steps[i].step);
  }
  if (gradients > most_gradients_told)
    text += (text.empty() ? "" : show::say(language_, show::phrase::semicolon)) +
            show::say(language_, {"{} gradients", "{} 个梯度"}, gradients);
  return text;
}

std::string ReportWords::symbol_in_layer(const LayerStep& step, std::optional<Index> head) const {
  return (step.own_layer() ? fmt::format("layer{}.", *step.layer + base_) : "") +
         symbol(step.step, name_of(step.step).per_head ? head : std::nullopt);
}

std::string ReportWords::symbol(StepId step, std::optional<Index> head) const {
  return show::symbol(step, head ? std::optional(*head + base_) : std::nullopt);
}

std::string ReportWords::step(const Finding& finding) const {
  const std::optional<Index> head = finding.of_one_head() ? std::optional(finding.heads.front()) : std::nullopt;
  return in_layer(finding, show::say(language_, {"{} {}", "“{}”{}"}, title(finding.step), symbol(finding.step, head)));
}

std::string ReportWords::heads(const std::vector<Index>& heads) const {
  std::vector<std::string> numbers;
  numbers.reserve(heads.size());
  for (const Index head : heads) numbers.push_back(std::to_string(head + base_));
  return show::say(language_, heads.size() == 1 ? in_head : in_heads, joined(language_, numbers));
}

std::string ReportWords::entries(const Finding& finding) const {
  const std::vector<Entry> wrong = wrong_entries(finding);
  const Index count = static_cast<Index>(wrong.size()), size = finding.given.numbers.size();
  if (count == 0 || count == size) return show::say(language_, {"in every entry", "每个元素都不对"});
  std::string list;
  for (std::size_t i = 0; i < std::min(wrong.size(), most_entries_told); ++i) {
    const Entry& entry = wrong[i];
    const bool has_items = finding.given.numbers.shape().batch > 1;
    list += list.empty() ? "" : show::say(language_, show::phrase::comma);
    list += (has_items ? show::say(language_, {"item {} ", "样本 {} "}, entry.item + base_) : "") +
            fmt::format("[{},{}]", entry.row + base_, entry.column + base_);
  }
  if (wrong.size() > most_entries_told) list += show::say(language_, {", …", "、…"});
  return show::say(language_, {"at {}", "位置 {}"}, list) +
         show::say(language_, show::phrase::in_parentheses,
                   show::say(language_, of_entries, grouped_digits(count), grouped_digits(size)));
}

std::string ReportWords::place(const Finding& finding) const {
  if (!finding.of_one_head()) return entries(finding);
  const std::string where = heads(finding.heads);
  const bool several = finding.heads.size() > 1;
  return where + (several ? show::say(language_, show::phrase::semicolon) + heads({finding.heads.front()}) : "") + " " +
         entries(finding);
}

std::vector<std::string> ReportWords::causes(const Finding& finding) const {
  std::vector<std::string> sentences;
  if (finding.suspects.size() > 1) sentences.push_back(show::say(language_, one_of));
  for (const Suspect& suspect : finding.suspects) {
    const auto done = [&](const Mistake& mistake, bool earlier) {
      const std::string what = in_layout(mistake.what.in(language_), finding.layout);
      return earlier ? show::say(language_, in_earlier, *suspect.earlier + base_, what) : what;
    };
    std::string what = done(*suspect.mistake, suspect.earlier && suspect.also == nullptr), form(suspect.mistake->id);
    if (suspect.also != nullptr) {
      what = show::say(language_, two_together, what, done(*suspect.also, suspect.earlier.has_value()));
      form += fmt::format(" + {}", suspect.also->id);
    }
    if (!suspect.detail.empty()) form += show::say(language_, show::phrase::semicolon) + suspect.detail;
    sentences.push_back(what + show::say(language_, show::phrase::in_parentheses, form));
  }
  const bool has_items = finding.expected.numbers->shape().batch > 1;
  if (!finding.keys.empty()) sentences.push_back(told(finding.keys, language_, base_, has_items));
  if (finding.suspects.empty() && !(finding.sign && finding.sign->explains))
    sentences.push_back(show::say(language_, no_known_mistake));
  if (finding.sign) {
    const bool has_number = true_numbers_ && !finding.sign->number.empty();
    sentences.push_back(std::string(finding.sign->what.in(language_)) +
                        (has_number ? show::say(language_, show::phrase::in_parentheses, finding.sign->number) : ""));
  }
  return sentences;
}

std::string ReportWords::evidence(const Finding& finding) const {
  if (finding.suspects.empty()) return "";
  const std::string step = title(finding.step);
  const bool all = finding.to_the_end && finding.later_steps > 0;
  const Text& match = all                        ? and_all_later
                      : finding.later_steps == 0 ? entries_match
                      : finding.later_steps == 1 ? and_next
                                                 : and_some_later;
  std::string text = show::say(language_, match, grouped_digits(finding.entries), step, finding.later_steps);
  if (finding.in_these_heads_only)
    text += show::say(language_, show::phrase::semicolon) + show::say(language_, only_in_these, heads(finding.heads));
  return text;
}

std::vector<std::string> ReportWords::hint(const Report& report, Hint level) const {
  if (report.findings.empty()) return {verdict(report)};
  const Finding& first = report.findings.front();
  std::vector<std::string> sentences{show::say(language_, first_wrong_is, title_in_layer(first))};
  if (!first.begins) sentences.push_back(show::say(language_, before_is_right));
  if (level >= Hint::place) sentences.push_back(place(first));
  if (level < Hint::mistake) return sentences;
  for (std::string& cause : causes(first)) sentences.push_back(std::move(cause));
  return sentences;
}

}  // namespace mha::study
