// Draws again until the numbers expose what numbers of these sizes can.
#include "study/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"

namespace mha {
namespace {

constexpr int most_attempts = 500;
constexpr int real_draws = 5;  // signs matter: relu changes nothing where all numbers happen to be positive

// What real numbers show clearly, small ones must show in the third decimal. No difference that is meant comes near either
// bound by chance of the last bit, so that the same draws are taken on every platform.
constexpr double clear_difference = 1e-2;
constexpr double visible_difference = 1.5e-3;

Exposure possible_exposure(const ExerciseSizes& sizes) {
  Dice dice(1);
  Exposure exposure = exposure_of(draw_real_numbers(sizes, dice), clear_difference);
  for (int i = 1; i < real_draws; ++i)
    exposure = both(exposure, exposure_of(draw_real_numbers(sizes, dice), clear_difference));
  return exposure;
}

// Being alike is transitive, and the pairs are in order: the first id of a group is met first.
IdGroups groups_of(const Exposure::Pairs& alike) {
  IdGroups groups;
  for (const auto& [a, b] : alike) {
    const auto has_a = [&, id = a](const std::vector<std::string_view>& group) {
      return std::find(group.begin(), group.end(), id) != group.end();
    };
    auto group = std::find_if(groups.begin(), groups.end(), has_a);
    if (group == groups.end()) group = groups.insert(groups.end(), {a});
    if (std::find(group->begin(), group->end(), b) == group->end()) group->push_back(b);
  }
  return groups;
}

template <typename Sorted>
Sorted difference(const Sorted& a, const Sorted& b) {
  Sorted result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}

}  // namespace

ExerciseMaker::ExerciseMaker(const ExerciseSizes& sizes, const Difficulty& difficulty)
    : sizes_(sizes), difficulty_(difficulty), possible_(possible_exposure(sizes)) {}

Problem ExerciseMaker::draw(std::uint32_t seed) const {
  Dice dice(seed);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::optional<Problem> problem = draw_small_numbers(sizes_, difficulty_, dice);
    if (!problem || !exposes(exposure_of(*problem, visible_difference), possible_)) continue;
    problem->title = {fmt::format("Exercise {}", seed), fmt::format("练习 {}", seed), true};
    problem->description = {
        "Small numbers for a pencil. Every common mistake that these sizes can show leads to other numbers here.",
        "数字很小，便于手算；这一规模能暴露的每一种常见错误，在这里都会得出不同的数。", true};
    return *std::move(problem);
  }
  throw Error(fmt::format(
      "no numbers of these sizes were found in {} draws with scores small enough for a pencil and every mistake "
      "in the open; fewer --tokens, a larger --d-model or --difficulty hard leaves more room",
      most_attempts));
}

BlindSpots ExerciseMaker::blind_spots() const {
  const Exposure best = possible_exposure(well_chosen(sizes_));
  BlindSpots spots;
  const std::vector<std::string_view> always = hidden_mistakes(best);
  for (const std::string_view id : hidden_mistakes(possible_))
    if (std::find(always.begin(), always.end(), id) == always.end()) spots.hidden.push_back(id);
  spots.alike = groups_of(difference(possible_.of_all_steps().alike, best.of_all_steps().alike));
  return spots;
}

ExerciseSizes well_chosen(const ExerciseSizes& sizes) {
  ExerciseSizes chosen = sizes;
  const bool grouped = sizes.kv_heads != sizes.heads;
  chosen.tokens = 5;
  chosen.d_model = grouped ? 12 : 6;
  chosen.heads = grouped ? 6 : 3;
  chosen.kv_heads = grouped ? 2 : 3;
  chosen.d_k = 2;
  return chosen;
}

std::uint32_t student_seed(std::uint32_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : fmt::format("{}/{}", seed, name)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::uint32_t>((hash ^ hash >> 32U) & 0x7fffffffU);
}

}  // namespace mha
