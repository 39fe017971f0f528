// How people round who make no mistake.
#include "study/check/draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "compute/cost.hpp"

namespace mha::study {
namespace {

constexpr std::size_t rounding_plainly = 3, rounding_nothing = rounding_plainly;  // so many, and which one
constexpr double deviations = 6;

constexpr int most_decimals = 6;

constexpr double as_good_as_half = 1e-9;  // of a unit: what sums of decimals lose of 0.5

// What rounding to a multiple of `unit` adds, on a grid that is shifted by this share of it.
double rounding(double number, double unit, double shift, bool cut_off) {
  const double units = number / unit + shift, nearly = units + std::copysign(as_good_as_half, units);
  return unit * ((cut_off ? std::trunc(nearly) : std::round(nearly)) - units);
}

// Where a draw's grid lies, by chance (the finaliser of splitmix64; Steele, Lea and Flood 2014). Every fourth has one grid
// for all entries of a value.
double shift(std::size_t draw, ValueId of, Index entry) {
  if (draw < rounding_plainly) return 0;
  const auto place = draw % 4 == 0 ? 0 : static_cast<std::uint64_t>(entry) + 1;
  std::uint64_t bits =
      (place * draw_count + draw) * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(of) * 0xD1B54A32D192ED03;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

bool is_drawn(const Precision& precision, const Plan& plan, const GivenMatrices& given) {
  const NumberForm& between = precision.between;
  if (!precision.propagated || precision.worst_case || between.computed_in->arithmetic.by_chance()) return false;
  const double operations = compute::operations(plan);
  if (between.half_unit_at(1) >= half_unit(most_decimals)) return operations < most_by_hand;
  const auto is_given = [&](const StepName& name) { return name.step != StepId::X && given.heads(name.step) > 0; };
  return between.computed_in == &of_32_bits && operations < worth_a_run &&
         std::count_if(row_names.begin(), row_names.end(), is_given) <= 1;
}

void Draws::round(Index entry, double half, double most, std::optional<double> given) {
  if (!(most > 0) || !(half > 0) || !std::isfinite(computed_.numbers->data()[entry])) half = 0;
  if (half == 0 && !given) return;
  if (numbers_.empty())
    for (std::size_t draw = 0; draw < draw_count; ++draw)
      numbers_.push_back(std::make_shared<Tensor>(computed_.draws.empty() ? *computed_.numbers : *computed_.draws[draw]));
  for (std::size_t draw = 0; draw < draw_count; ++draw) {
    double& number = numbers_[draw]->data()[entry];
    const double added = half > 0 ? rounding(number, 2 * half, shift(draw, of_, entry), cut_off_) : 0;
    if (draw == rounding_nothing)
      number = given && std::abs(number - *given) > (cut_off_ ? 2 : 1) * half * (1 + as_good_as_half) ? *given : number;
    else if (draw < rounding_plainly)
      number = given.value_or(number + added);
    else
      number = given.value_or(number) + (given && cut_off_ ? -1 : 1) * std::min(1.0, most / half) * added;
  }
}

Uncertain drawn_from(const Value& exact, const Factors& factors, bool in_radius) {
  Uncertain result{exact.constant, nullptr};
  Tensor radius(exact.shape);
  radius.fill(0);
  for (std::size_t draw = 0; draw < draw_count; ++draw) {
    const std::size_t one = draw % (factors.size() + 1);
    auto drawn = std::make_shared<Tensor>(*exact.constant);
    if (one > 0) drawn->fill(factors[one - 1].value());
    radius.fill(std::max(radius.data()[0], std::abs(drawn->data()[0] - exact.constant->data()[0])));
    result.draws.push_back(std::move(drawn));
  }
  if (in_radius) result.radius = std::make_shared<Tensor>(std::move(radius));
  return result;
}

void take_draws(StepTaker& steps, const Step& step, const std::vector<Uncertain>& operands, const FloatingPoint& arithmetic,
                Uncertain& result) {
  // Floats are rounded by every step; decimals where they are written down.
  const bool none_yet = std::all_of(operands.begin(), operands.end(), [](const Uncertain& of) { return of.draws.empty(); });
  if (none_yet && arithmetic.eps < of_32_bits.arithmetic.eps) return;
  std::vector<Uncertain> own;
  for (const Uncertain& operand : operands) own.push_back({operand.numbers, nullptr});
  const auto computing = steps.radius(step, own, *result.numbers, arithmetic);
  Tensor squares(result.numbers->shape());
  squares.fill(0);
  for (std::size_t draw = 0; draw < draw_count; ++draw) {
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!operands[i].draws.empty()) own[i].numbers = operands[i].draws[draw];
    auto drawn = std::make_shared<Tensor>(*steps.result(step, own));
    for (Index i = 0; i < squares.size(); ++i) {
      double& number = drawn->data()[i];
      if (computing && draw > rounding_nothing) number += computing->data()[i] * (2 * shift(draw, step.out, i) - 1);
      squares.data()[i] += std::pow(number - result.numbers->data()[i], 2);
    }
    result.draws.push_back(std::move(drawn));
  }
  if (!result.radius) return;
  auto radius = std::make_shared<Tensor>(*result.radius);
  for (Index i = 0; i < squares.size(); ++i) {
    const double likely = deviations * std::sqrt(squares.data()[i] / draw_count) + (computing ? computing->data()[i] : 0);
    if (likely < radius->data()[i]) radius->data()[i] = likely;
  }
  result.radius = std::move(radius);
}

}  // namespace mha::study
