// What every part of a description looks at.
#include "show/pages/scene.hpp"

#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

Words named(const Scene& scene, const Text& phrase, Axis axis, Index item, Index i) {
  Words words(say(scene.options.language, phrase, scene.counted(i)));
  const std::vector<std::string>& labels = labels_of(scene.problem, axis, item);
  if (static_cast<std::size_t>(i) >= labels.size()) return words;
  const bool zh = scene.options.language == Language::zh;
  return words.add(zh ? "（" : " (").quote(labels[static_cast<std::size_t>(i)]).add(zh ? "）" : ")");
}

std::vector<Row> keyless_rows(const Problem& problem, const Plan& plan) {
  std::vector<const Tensor*> masks;
  for (const Value& value : plan.values)
    if (value.role == Value::Role::mask) masks.push_back(value.constant.get());
  return rows_without_key(problem, masks);
}

}  // namespace

Scene::Scene(const Problem& of_problem, const Plan& of_plan, const Trace& of_trace, const PageOptions& with_options)
    : problem(of_problem), plan(of_plan), trace(of_trace), options(with_options), keyless(keyless_rows(problem, plan)) {}

bool is_one_row_for_all(const Value& value) {
  return value.shape.rows == 1 && (value.role == Value::Role::bias || value.role == Value::Role::mask);
}

Index position_of_row(const Problem& problem, const Step& rotation, Index row) {
  const Rope& rope = *problem.rope;
  return rotation.id == StepId::Q_rot ? rope.query_position(row) : rope.key_position(row, problem.X_kv.has_value());
}

const std::vector<std::string>& labels_of(const Problem& problem, Axis axis, Index item) {
  static const std::vector<std::string> nothing;
  const Labels& labels = axis == Axis::keys && problem.X_kv ? problem.tokens_kv : problem.tokens;
  if (axis == Axis::none || labels.empty()) return nothing;
  return labels.size() == 1 ? labels.front() : labels[static_cast<std::size_t>(item)];
}

Words query_name(const Scene& scene, Index item, Index query) {
  return named(scene, phrase::query, Axis::queries, item, query);
}

Words key_name(const Scene& scene, Index item, Index key) {
  return named(scene, phrase::key, Axis::keys, item, key);
}

}  // namespace mha::show
