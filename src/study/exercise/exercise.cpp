// Draws again until the numbers expose what numbers of these sizes can.
#include "study/exercise/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace mha::study {
namespace {

constexpr int most_attempts = 500;
constexpr int real_draws = 5;  // signs matter: relu changes nothing where all numbers happen to be positive

// What real numbers show clearly, small ones must show in the third decimal. Neither bound is a difference that small
// numbers can have (products of tenths differ by multiples of 0.0001), so that no last bit decides whether a draw is taken
// and the same ones are on every platform.
constexpr double clear_difference = 1e-2;
constexpr double visible_difference = 1.55e-3;

VisibleMistakes possibly_visible(const ExerciseSizes& sizes) {
  Dice dice(1);
  VisibleMistakes visible = visible_mistakes(draw_real_numbers(sizes, dice), clear_difference);
  for (int i = 1; i < real_draws; ++i)
    visible = both(visible, visible_mistakes(draw_real_numbers(sizes, dice), clear_difference));
  return visible;
}

bool contains(const Ids& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Ids hidden_in(const VisibleMistakes& visible) {
  return hidden_mistakes(visible.forms, visible.all_steps.shown);
}

// Being alike is transitive, and the pairs are in order: the first id of a group is met first.
void add_to_groups(const std::pair<std::string_view, std::string_view>& pair, IdGroups& groups) {
  const auto has_first = [&](const Ids& group) { return contains(group, pair.first); };
  auto group = std::find_if(groups.begin(), groups.end(), has_first);
  if (group == groups.end()) group = groups.insert(group, {pair.first});
  if (!contains(*group, pair.second)) group->push_back(pair.second);
}

}  // namespace

ExerciseMaker::ExerciseMaker(const ExerciseSizes& sizes, const Difficulty& difficulty)
    : sizes_(sizes), difficulty_(difficulty), possible_(possibly_visible(sizes)) {}

Problem ExerciseMaker::draw(std::uint32_t seed) const {
  Dice dice(seed);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::optional<Problem> problem = draw_small_numbers(sizes_, difficulty_, dice);
    if (!problem || !show_as_much(visible_mistakes(*problem, visible_difference), possible_)) continue;
    problem->title = {fmt::format("Exercise {}", seed), fmt::format("练习 {}", seed), true};
    problem->description = {
        "Small numbers for a pencil. Every common mistake that these sizes can show leads to other numbers here.",
        "数字很小，便于手算；这一规模看得出的每一种常见错误，在这里都会得出不同的数。", true};
    return *std::move(problem);
  }
  throw Error({"no numbers of these sizes were found in {} draws with scores small enough for a pencil and every mistake "
               "in the open; fewer --tokens, a larger --d-model or --difficulty hard leaves more room",
               "抽取 {} 次，也没有找到这种规模的数，使分数便于笔算、每种错误都看得出；--tokens 小些、--d-model 大些或 "
               "--difficulty hard 会有更多余地"},
              most_attempts);
}

BlindSpots ExerciseMaker::blind_spots() const {
  const VisibleMistakes best = possibly_visible(well_chosen(sizes_));
  const Ids hidden = hidden_in(possible_), always = hidden_in(best);
  BlindSpots spots;
  for (const std::string_view id : hidden)
    if (!contains(always, id)) spots.hidden.push_back(id);
  for (const auto& pair : possible_.all_steps.alike)
    if (best.all_steps.alike.count(pair) == 0 && !contains(hidden, pair.first) && !contains(hidden, pair.second))
      add_to_groups(pair, spots.alike);
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

}  // namespace mha::study
