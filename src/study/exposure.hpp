// What the numbers of a problem bring to light: which mistakes they show, and which of them they tell apart.
#pragma once

#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "study/simulate.hpp"

namespace mha {

struct Exposure {
  using Pairs = std::set<std::pair<std::string_view, std::string_view>>;  // of ids

  std::vector<std::string_view> forms;  // all forms of all mistakes that can be made, by the mistake's id
  // To a person who sees all steps, and to one who sees the output alone:
  struct View {
    std::vector<bool> shown;  // by form
    Pairs alike;              // mistakes with the same numbers
  };
  std::array<View, 2> views;

  const View& of_all_steps() const { return views.front(); }
};

// Numbers count as different where they are further apart than the tolerance.
Exposure exposure_of(const Problem& problem, double tolerance);

// What at least one of two problems of the same sizes brings to light.
Exposure both(const Exposure& a, const Exposure& b);

// Whether `numbers`, of the same sizes, bring to light everything that `sizes` do.
bool exposes(const Exposure& numbers, const Exposure& sizes);

// Ids of mistakes that can be made and show in no step, whatever their form.
std::vector<std::string_view> hidden_mistakes(const Exposure& exposure);

}  // namespace mha
