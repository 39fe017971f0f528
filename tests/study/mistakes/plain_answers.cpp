// Traces as answer files: rounded, cut to some steps, and written as JSON.
#include "study/mistakes/plain_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace mha::test {

PlainTrace written_with(const PlainTrace& trace, int decimals) {
  PlainTrace result = trace;
  for (auto& [step, heads] : result.steps)
    if (step != StepId::X)
      for (PlainMatrix& head : heads) head = each_entry(head, [&](double x) { return rounded(x, decimals); });
  return result;
}

PlainTrace only(const PlainTrace& trace, const std::set<StepId>& steps) {
  PlainTrace result;
  for (const auto& [step, heads] : trace.steps)
    if (steps.count(step) > 0) result.steps[step] = heads;
  return result;
}

PlainTrace without(PlainTrace trace, const std::set<StepId>& steps) {
  for (const StepId step : steps) trace.steps.erase(step);
  return trace;
}

namespace {

// As Python writes them: 3 is 3.0.
std::string number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

using Parts = std::vector<std::string>;

std::string list(const Parts& parts) {
  return fmt::format("[{}]", fmt::join(parts, ","));
}

std::string member(const std::string& key, const std::string& value) {
  return fmt::format("\"{}\":{}", key, value);
}

std::string object(const Parts& members) {
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

std::string matrix_text(const PlainMatrix& matrix) {
  Parts rows;
  for (Index i = 0; i < matrix.rows; ++i) {
    Parts row;
    for (Index j = 0; j < matrix.cols; ++j) row.push_back(number(matrix.at(i, j)));
    rows.push_back(list(row));
  }
  return list(rows);
}

std::string nested(const PlainTrace& trace) {
  Parts members, packed;
  std::vector<Parts> heads;
  for (const auto& [step, matrices] : trace.steps) {
    const StepName& name = name_of(step);
    if (is_packed(step)) packed.push_back(member(std::string(name.symbol), matrix_text(matrices.front())));
    if (!name.per_head) continue;
    for (std::size_t k = heads.size(); k < matrices.size(); ++k) heads.push_back({member("head", std::to_string(k + 1))});
    for (std::size_t k = 0; k < matrices.size(); ++k)
      heads[k].push_back(member(std::string(name.id), matrix_text(matrices[k])));
  }
  if (!packed.empty()) members.push_back(member("packed", object(packed)));
  Parts all;
  for (const Parts& head : heads) all.push_back(object(head));
  if (!all.empty()) members.push_back(member("heads", list(all)));
  for (const auto& [step, matrices] : trace.steps)
    if (!name_of(step).per_head && !is_packed(step))
      members.push_back(member(std::string(name_of(step).id), matrix_text(matrices.front())));
  return object(members);
}

// The symbols that can be typed; the turned and the capped ones carry a tilde, so those go by their ids.
std::string flat_name(StepId step) {
  for (const StepId typed :
       {StepId::scores, StepId::scaled, StepId::masked, StepId::weights, StepId::head_output, StepId::output})
    if (step == typed) return std::string(name_of(step).symbol);
  return std::string(name_of(step).id);
}

std::string flat(const PlainTrace& trace) {
  Parts members;
  for (const auto& [step, heads] : trace.steps) {
    if (is_packed(step)) continue;
    for (std::size_t k = 0; k < heads.size(); ++k)
      members.push_back(
          member(flat_name(step) + (name_of(step).per_head ? std::to_string(k + 1) : ""), matrix_text(heads[k])));
  }
  return object(members);
}

}  // namespace

std::string answer_text(const PlainTrace& trace, AnswerForm form) {
  return form == AnswerForm::flat ? flat(trace) : nested(trace);
}

}  // namespace mha::test
