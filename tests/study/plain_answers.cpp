// Traces as answer files: rounded, cut to some steps, and written as JSON.
#include "study/plain_answers.hpp"

#include <nlohmann/json.hpp>

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

using nlohmann::json;

json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

json matrix(const PlainMatrix& matrix) {
  json rows = json::array();
  for (Index i = 0; i < matrix.rows; ++i) {
    json row = json::array();
    for (Index j = 0; j < matrix.cols; ++j) row.push_back(number(matrix.at(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

json nested(const PlainTrace& trace) {
  json answer = json::object();
  for (const auto& [step, heads] : trace.steps) {
    const StepName& name = name_of(step);
    const std::string id(name.id);
    if (is_packed(step)) {
      answer["packed"][std::string(name.symbol)] = matrix(heads.front());
    } else if (!name.per_head) {
      answer[id] = matrix(heads.front());
    } else {
      for (std::size_t k = 0; k < heads.size(); ++k) {
        answer["heads"][k]["head"] = k + 1;
        answer["heads"][k][id] = matrix(heads[k]);
      }
    }
  }
  return answer;
}

// The symbols that can be typed; the turned and the capped ones carry a tilde, so those go by their ids.
std::string flat_name(StepId step) {
  switch (step) {
    case StepId::scores: return "S";
    case StepId::scaled: return "Z";
    case StepId::masked: return "M";
    case StepId::weights: return "A";
    case StepId::head_output: return "head";
    case StepId::output: return "Y";
    case StepId::X:
    case StepId::packed_Q:
    case StepId::packed_K:
    case StepId::packed_V:
    case StepId::Q:
    case StepId::K:
    case StepId::V:
    case StepId::Q_rot:
    case StepId::K_rot:
    case StepId::capped:
    case StepId::concat: break;
  }
  return std::string(name_of(step).id);
}

json flat(const PlainTrace& trace) {
  json answer = json::object();
  for (const auto& [step, heads] : trace.steps) {
    if (is_packed(step)) continue;
    for (std::size_t k = 0; k < heads.size(); ++k)
      answer[flat_name(step) + (name_of(step).per_head ? std::to_string(k + 1) : "")] = matrix(heads[k]);
  }
  return answer;
}

}  // namespace

std::string answer_text(const PlainTrace& trace, AnswerForm form) {
  return (form == AnswerForm::flat ? flat(trace) : nested(trace)).dump();
}

}  // namespace mha::test
