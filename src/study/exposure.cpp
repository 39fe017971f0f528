// What the numbers of a problem bring to light, by simulation of every mistake.
#include "study/exposure.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <numeric>

namespace mha {
namespace {

constexpr std::array seen_from = {StepId::X, StepId::output};  // by view

bool is_right_from(StepId from, const Written& numbers, const Written& right, double tolerance) {
  Written seen, expected;
  const auto first = static_cast<std::size_t>(from);
  std::copy(numbers.begin() + first, numbers.end(), seen.begin() + first);
  std::copy(right.begin() + first, right.end(), expected.begin() + first);
  return !first_difference(seen, expected, tolerance);
}

Exposure::View view_from(StepId from, const std::vector<Outcome>& outcomes, const std::vector<Written>& right,
                         double tolerance) {
  Exposure::View view;
  for (const Outcome& outcome : outcomes)
    view.shown.push_back(std::none_of(right.begin(), right.end(), [&](const Written& form) {
      return is_right_from(from, outcome.numbers, form, tolerance);
    }));
  for (const std::vector<std::string_view>& group : indistinguishable(outcomes, right, from, tolerance))
    for (const std::string_view a : group)
      for (const std::string_view b : group)
        if (a < b) view.alike.emplace(a, b);
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
  const auto hides = [](bool in_sizes, bool in_numbers) { return in_sizes && !in_numbers; };
  if (std::inner_product(sizes.shown.begin(), sizes.shown.end(), numbers.shown.begin(), false, std::logical_or<>(), hides))
    return false;
  return std::includes(sizes.alike.begin(), sizes.alike.end(), numbers.alike.begin(), numbers.alike.end());
}

}  // namespace

Exposure exposure_of(const Problem& problem, double tolerance) {
  const std::vector<Outcome> all = outcomes(problem, tolerance);
  const std::vector<Written> right = right_forms(problem);
  Exposure exposure;
  for (const Outcome& outcome : all) exposure.forms.push_back(outcome.mistake->id);
  for (std::size_t view = 0; view < seen_from.size(); ++view)
    exposure.views[view] = view_from(seen_from[view], all, right, tolerance);
  return exposure;
}

Exposure both(const Exposure& a, const Exposure& b) {
  assert(a.forms == b.forms);
  Exposure result{a.forms, {}};
  for (std::size_t view = 0; view < seen_from.size(); ++view) result.views[view] = both(a.views[view], b.views[view]);
  return result;
}

bool exposes(const Exposure& numbers, const Exposure& sizes) {
  assert(numbers.forms == sizes.forms);
  return std::equal(numbers.views.begin(), numbers.views.end(), sizes.views.begin(),
                    [](const Exposure::View& a, const Exposure::View& b) { return exposes(a, b); });
}

std::vector<std::string_view> hidden_mistakes(const Exposure& exposure) {
  const std::vector<bool>& is_shown = exposure.of_all_steps().shown;
  std::set<std::string_view> shown;
  for (std::size_t i = 0; i < exposure.forms.size(); ++i)
    if (is_shown[i]) shown.insert(exposure.forms[i]);
  std::vector<std::string_view> hidden;
  for (const std::string_view id : exposure.forms)
    if (shown.count(id) == 0 && (hidden.empty() || hidden.back() != id)) hidden.push_back(id);
  return hidden;
}

}  // namespace mha
