// Draws again until the numbers expose what numbers of these sizes can, by simulation of every mistake.
#include "study/exercise/exercise.hpp"

#include <iterator>

#include "core/error.hpp"

namespace mha::study {
namespace {

constexpr int most_attempts = 500;
constexpr int most_attempts_behind = 20;  // at what reads one and the same layer: then all begins anew
constexpr int real_draws = 5;             // signs matter: relu changes nothing where all numbers happen to be positive

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

Problem titled(std::vector<Problem> layers, std::uint32_t seed) {
  Problem problem;
  if (layers.size() == 1) {
    problem = std::move(layers.front());
  } else {
    problem.X = layers.front().X;
    problem.final_norm = std::exchange(layers.back().final_norm, {});
    problem.loss = std::move(layers.back().loss);
    for (Problem& layer : layers) layer.loss.reset();
    problem.layers = std::move(layers);
  }
  problem.title = {fmt::format("Exercise {}", seed), fmt::format("练习 {}", seed), true};
  problem.description = {
      "Small numbers for a pencil. Every common mistake that these sizes can show leads to other numbers here.",
      "数字很小，便于手算；这一规模看得出的每一种常见错误，在这里都会得出不同的数。", true};
  return problem;
}

}  // namespace

ExerciseMaker::ExerciseMaker(const ExerciseSizes& sizes, const Difficulty& difficulty)
    : sizes_(sizes),
      inner_(sizes),
      difficulty_(difficulty),
      possible_(possibly_visible(sizes)),
      possible_inner_(possible_) {
  inner_.final_norm = false;
  if (sizes.final_norm && sizes.layers > 1) possible_inner_ = possibly_visible(inner_);
}

Problem ExerciseMaker::draw(std::uint32_t seed) const {
  Dice dice(seed);
  std::vector<Problem> layers;
  std::optional<Tensor> received;
  int behind = 0;
  for (int attempt = 0; attempt < most_attempts * sizes_.layers; ++attempt) {
    if (received && ++behind > most_attempts_behind) {
      layers.clear();
      received.reset();
    }
    const bool last = static_cast<int>(layers.size()) + 1 == sizes_.layers;
    std::optional<Problem> layer = draw_small_numbers(last ? sizes_ : inner_, difficulty_, dice, received);
    if (!layer || !show_as_much(visible_mistakes(*layer, visible_difference), last ? possible_ : possible_inner_)) continue;
    layers.push_back(*std::move(layer));
    if (static_cast<int>(layers.size()) == sizes_.layers) {
      Problem whole = titled(std::move(layers), seed);
      if (show_on_the_way_back(whole)) return whole;
      layers.clear();
      received.reset();
      continue;
    }
    behind = 0;
    const Plan plan = answer_plan(layers.back());
    received = *written(plan, simulate(plan))[static_cast<std::size_t>(result_of(plan))];
  }
  throw Error(
      {"no numbers of these sizes were found in {} draws with scores small enough for a pencil and every mistake "
       "in the open; fewer --tokens or --layers, a larger --d-model or --difficulty hard leaves more room, and with "
       "several --layers --residual keeps the tokens apart",
       "抽取 {} 次，也没有找到这种规模的数，使分数便于笔算、每种错误都看得出；--tokens 或 --layers 小些、--d-model 大些或 "
       "--difficulty hard 会有更多余地；有多层（--layers）时，--residual 使各词元保持差别"},
      most_attempts * sizes_.layers);
}

// An earlier layer was drawn with a loss of its own: whether what comes back to it, as that of such a loss, shows as much.
bool ExerciseMaker::show_on_the_way_back(const Problem& stack) const {
  if (!stack.loss || stack.layers.empty()) return true;
  Layered all = layered(stack);
  for (std::size_t i = 0; i + 1 < all.problems.size(); ++i) {
    Loss& loss = *all.problems[i].loss;
    const Tensor& result = *all.numbers[i][static_cast<std::size_t>(result_of(answer_plan(all.problems[i])))];
    for (Index entry = 0; entry < result.size(); ++entry)
      loss.target.data()[entry] = result.data()[entry] - loss.target.data()[entry];
    loss.kind = Loss::Kind::half_squares;
    if (!show_as_much(visible_mistakes(all.problems[i], visible_difference), possible_inner_)) return false;
  }
  return true;
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
