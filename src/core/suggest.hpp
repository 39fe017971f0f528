// "Did you mean …?": the known name that is nearest to what a person wrote.
#pragma once

#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "core/text.hpp"

namespace mha {

// What the rows of a table are called: column_of(families, &Family::name).
template <typename Rows, typename Name>
std::vector<std::string_view> column_of(const Rows& rows, Name name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(rows));
  for (const auto& row : rows) names.push_back(std::invoke(name, row));
  return names;
}

// The nearest of the known names, or nothing where none is near. Case, separators and the digits 0 and 1 for O and l count
// for nothing, so that Wq, W_q and wQ are all W_Q, and W_0 is W_O.
std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> known);

// "a, b, c"
template <typename Names>
Saying listed(const Names& names, const Text& between = {", ", "、"}) {
  Saying all;
  for (const auto& name : names) {
    all = all.en.empty() ? all : say({"{}{}", "{}{}"}, all, between);
    all = say({"{}{}", "{}{}"}, all, name);
  }
  return all;
}

// " Did you mean "W_Q"?", to stand behind a sentence; empty where no known name is near.
Saying did_you_mean(std::string_view name, std::span<const std::string_view> known);

// The same, but " Known: causal, none." where no known name is near.
Saying did_you_mean_or_known(std::string_view name, std::span<const std::string_view> known);

}  // namespace mha
