// The names of matrices in answers.
#include "io/problem/answer_names.hpp"

#include <charconv>

namespace mha::io {
namespace {

bool is_called(const StepName& step, std::string_view name) {
  return name == step.id || name == step.symbol;
}

// The first step of this kind with this name.
template <typename Belongs>
std::optional<StepId> find_step(std::string_view name, Belongs belongs) {
  for (const StepName& step : step_names)
    if (belongs(step) && is_called(step, name)) return step.step;
  return std::nullopt;
}

bool is_per_head(const StepName& step) {
  return step.per_head;
}

// "weights12" as "weights" and head 12; nothing where there is no number, or one that cannot be a head's.
struct Numbered {
  std::string_view name;
  Index number;
};
std::optional<Numbered> numbered(std::string_view key) {
  const std::size_t first = key.find_last_not_of("0123456789") + 1;
  const std::string_view digits = key.substr(first);
  if (digits.empty() || digits.front() == '0') return std::nullopt;
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number > most_heads) return std::nullopt;
  return Numbered{key.substr(0, first), number};
}

}  // namespace

std::optional<MatrixName> matrix_name(std::string_view key) {
  if (const std::optional<Numbered> of_head = numbered(key)) {
    const std::optional<StepId> step = head_step(of_head->name);
    return step ? std::optional(MatrixName{*step, of_head->number - 1}) : std::nullopt;
  }
  if (const std::optional<StepId> step = head_step(key)) return MatrixName{*step, std::nullopt};
  const std::optional<StepId> step = find_step(key, [](const StepName& name) { return !name.per_head; });
  return step ? std::optional(MatrixName{*step, std::nullopt}) : std::nullopt;
}

std::optional<StepId> head_step(std::string_view key) {
  return find_step(key, is_per_head);
}

std::optional<StepId> packed_step(std::string_view key) {
  return find_step(key, [](const StepName& name) { return is_packed(name.step); });
}

std::vector<std::string> known_matrix_names() {
  std::vector<std::string> names;
  for (const StepName& step : step_names)
    for (const std::string_view name : {step.id, step.symbol})
      names.push_back(std::string(name) + (step.per_head ? "1" : ""));
  return names;
}

}  // namespace mha::io
