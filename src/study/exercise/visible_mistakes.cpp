// What the numbers of a problem bring to light, by simulation of every mistake.
#include "study/exercise/visible_mistakes.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>

namespace mha::study {
namespace {

Written steps_from(StepId from, Written steps) {
  std::fill_n(steps.begin(), static_cast<std::size_t>(from), nullptr);
  return steps;
}

std::vector<bool> shown_from(StepId from, const std::vector<Outcome>& outcomes, const std::vector<Written>& right,
                             double tolerance) {
  std::vector<bool> shown;
  for (const Outcome& outcome : outcomes) {
    const Written seen = steps_from(from, outcome.numbers);
    shown.push_back(std::all_of(right.begin(), right.end(), [&](const Written& form) {
      return first_step_apart(seen, steps_from(from, form), tolerance).has_value();
    }));
  }
  return shown;
}

void add_pairs(const Ids& some, const Ids& others, VisibleMistakes::Pairs& pairs) {
  for (const std::string_view a : some)
    for (const std::string_view b : others)
      if (a != b) pairs.insert(std::minmax(a, b));
}

VisibleMistakes::View view_from(StepId from, const Ids& forms, const std::vector<Outcome>& outcomes,
                                const std::vector<Written>& right, double tolerance) {
  VisibleMistakes::View view{shown_from(from, outcomes, right, tolerance), {}};
  for (const Ids& group : indistinguishable(outcomes, right, from, tolerance)) add_pairs(group, group, view.alike);
  add_pairs(hidden_mistakes(forms, view.shown), forms, view.alike);
  return view;
}

VisibleMistakes::View both(const VisibleMistakes::View& a, const VisibleMistakes::View& b) {
  VisibleMistakes::View result;
  std::transform(a.shown.begin(), a.shown.end(), b.shown.begin(), std::back_inserter(result.shown), std::logical_or<>());
  std::set_intersection(a.alike.begin(), a.alike.end(), b.alike.begin(), b.alike.end(),
                        std::inserter(result.alike, result.alike.end()));
  return result;
}

bool show_as_much(const VisibleMistakes::View& numbers, const VisibleMistakes::View& sizes) {
  for (std::size_t form = 0; form < sizes.shown.size(); ++form)
    if (sizes.shown[form] && !numbers.shown[form]) return false;
  return std::includes(sizes.alike.begin(), sizes.alike.end(), numbers.alike.begin(), numbers.alike.end());
}

}  // namespace

VisibleMistakes visible_mistakes(const Problem& problem, double tolerance) {
  const std::vector<Outcome> all = outcomes(problem, tolerance);
  const std::vector<Written> right = right_forms(problem);
  VisibleMistakes visible;
  for (const Outcome& outcome : all) visible.forms.push_back(outcome.mistake->id);
  visible.all_steps = view_from(StepId::X, visible.forms, all, right, tolerance);
  visible.output_only = view_from(StepId::output, visible.forms, all, right, tolerance);
  return visible;
}

VisibleMistakes both(const VisibleMistakes& a, const VisibleMistakes& b) {
  assert(a.forms == b.forms);
  return {a.forms, both(a.all_steps, b.all_steps), both(a.output_only, b.output_only)};
}

bool show_as_much(const VisibleMistakes& numbers, const VisibleMistakes& sizes) {
  assert(numbers.forms == sizes.forms);
  return show_as_much(numbers.all_steps, sizes.all_steps) && show_as_much(numbers.output_only, sizes.output_only);
}

Ids hidden_mistakes(const Ids& forms, const std::vector<bool>& shown) {
  std::set<std::string_view> seen;
  for (std::size_t form = 0; form < forms.size(); ++form)
    if (shown[form]) seen.insert(forms[form]);
  Ids hidden;
  for (const std::string_view id : forms)
    if (seen.count(id) == 0 && (hidden.empty() || hidden.back() != id)) hidden.push_back(id);
  return hidden;
}

}  // namespace mha::study
