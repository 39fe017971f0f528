// What the numbers of a problem bring to light, by simulation of every mistake.
#include "study/mistakes/exposure.hpp"

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
      return first_difference(seen, steps_from(from, form), tolerance).has_value();
    }));
  }
  return shown;
}

void add_pairs(const Ids& some, const Ids& others, Exposure::Pairs& pairs) {
  for (const std::string_view a : some)
    for (const std::string_view b : others)
      if (a != b) pairs.insert(std::minmax(a, b));
}

Exposure::View view_from(StepId from, const Ids& forms, const std::vector<Outcome>& outcomes,
                         const std::vector<Written>& right, double tolerance) {
  Exposure::View view{shown_from(from, outcomes, right, tolerance), {}};
  for (const Ids& group : indistinguishable(outcomes, right, from, tolerance)) add_pairs(group, group, view.alike);
  add_pairs(hidden_mistakes(forms, view.shown), forms, view.alike);
  return view;
}

Exposure::View both(const Exposure::View& a, const Exposure::View& b) {
  Exposure::View result;
  std::transform(a.shown.begin(), a.shown.end(), b.shown.begin(), std::back_inserter(result.shown), std::logical_or<>());
  std::set_intersection(a.alike.begin(), a.alike.end(), b.alike.begin(), b.alike.end(),
                        std::inserter(result.alike, result.alike.end()));
  return result;
}

bool exposes(const Exposure::View& numbers, const Exposure::View& sizes) {
  for (std::size_t form = 0; form < sizes.shown.size(); ++form)
    if (sizes.shown[form] && !numbers.shown[form]) return false;
  return std::includes(sizes.alike.begin(), sizes.alike.end(), numbers.alike.begin(), numbers.alike.end());
}

}  // namespace

Exposure exposure_of(const Problem& problem, double tolerance) {
  const std::vector<Outcome> all = outcomes(problem, tolerance);
  const std::vector<Written> right = right_forms(problem);
  Exposure exposure;
  for (const Outcome& outcome : all) exposure.forms.push_back(outcome.mistake->id);
  exposure.all_steps = view_from(StepId::X, exposure.forms, all, right, tolerance);
  exposure.output_only = view_from(StepId::output, exposure.forms, all, right, tolerance);
  return exposure;
}

Exposure both(const Exposure& a, const Exposure& b) {
  assert(a.forms == b.forms);
  return {a.forms, both(a.all_steps, b.all_steps), both(a.output_only, b.output_only)};
}

bool exposes(const Exposure& numbers, const Exposure& sizes) {
  assert(numbers.forms == sizes.forms);
  return exposes(numbers.all_steps, sizes.all_steps) && exposes(numbers.output_only, sizes.output_only);
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
