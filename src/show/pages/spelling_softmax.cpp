// Spells softmax out: one exponential over the sum of those that are normalised with it.

#include "show/pages/page_parts.hpp"
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

constexpr Index most_exponentials = 8;

// Between these, the exponentials can be checked with the decimals of a page; beyond, the maximum is subtracted in sight.
constexpr double smallest_maximum = -2, largest_maximum = 8;

}  // namespace

// Of all that takes part. NaN where there is one: it has no maximum.
double Spelling::largest_in(const Terms& slice) const {
  double largest = minus_infinity;
  for (std::size_t i = 0; i < slice.size() && !std::isnan(largest); ++i) {
    const double next = number(slice[i].front());
    if (!(next <= largest)) largest = next;
  }
  return largest;
}

// Nothing where it is not subtracted in sight, or is that of nothing but −∞.
std::optional<double> Spelling::maximum_of(const Terms& slice) const {
  if (!step_.softmax.maximum_subtracted || step_.softmax.power == Softmax::Power::none) return std::nullopt;
  const double largest = largest_in(slice);
  const bool subtracted = largest != minus_infinity && (largest < smallest_maximum || largest > largest_maximum);
  return subtracted ? std::optional(largest) : std::nullopt;
}

std::optional<double> Spelling::maximum(EntryAt at) const {
  return info_of(step_.op).shares != Shares::none ? maximum_of(terms(at)) : std::nullopt;
}

double Spelling::power(double exponent) const {
  switch (step_.softmax.power) {
    case Softmax::Power::e: return std::exp(exponent);
    case Softmax::Power::two: return std::exp2(exponent);
    case Softmax::Power::none: return exponent;
  }
  return exponent;
}

std::string Spelling::power_text(const std::string& exponent) const {
  switch (step_.softmax.power) {
    case Softmax::Power::e: return "e^" + exponent;
    case Softmax::Power::two: return "2^" + exponent;
    case Softmax::Power::none: return exponent;
  }
  return exponent;
}

Summand Spelling::exponential(const ReadEntry& z, std::optional<double> shift) const {
  const NumberStyle& style = operands_[0].style();
  const std::string name = word(z, As::names), number_text = text(z);
  const auto shifted = [](const std::string& exponent, const std::string& by) { return "(" + exponent + " − " + by + ")"; };
  return {{z},
          power_text(shift ? shifted(name, "max") : name),
          power_text(shift ? shifted(number_text, style.term(*shift)) : number_text),
          power(number(z) - shift.value_or(0))};
}

Spelling::RightSide Spelling::softmax(const Terms& slice, EntryAt at, As as) const {
  const Language language = scene_.options.language;
  const auto terms = static_cast<Index>(slice.size());
  const double largest = largest_in(slice);
  if (largest == minus_infinity) {
    const bool is_row = step_.softmax.over == Softmax::Over::row;
    return {{},
            is_row ? say_words(language, phrase::no_key_here, {query_name(scene_, place_.item, at.row)})
                   : Words(say_it({"all entries over which it is taken are −∞", "参与计算的所有元素均为 −∞"}))};
  }
  const bool shifted = maximum_of(slice).has_value();
  const double shift = shifted ? largest : 0;
  const NumberStyle& style = operands_[0].style();
  const bool powers = step_.softmax.power != Softmax::Power::none;
  const auto exponent = [&](const ReadEntry& read) {
    if (as == As::names) return shifted ? "(" + word(read, as) + " − max)" : word(read, as);
    return powers ? style.text(number(read) - shift) : style.term(number(read));
  };
  const auto z = [&](Index i) { return slice[static_cast<std::size_t>(i)].front(); };
  const ReadEntry own{0, place_, at};
  const std::string one = step_.softmax.one_more ? "1 + " : "";
  const std::string sum = one + series_text(terms, most_exponentials, [&](Index i) { return power_text(exponent(z(i))); });
  RightSide right = equal_to(power_text(exponent(own)) + " / (" + sum + ")");
  if (as == As::names) return right;

  double total = step_.softmax.one_more ? 1 : 0;
  for (Index i = 0; i < terms; ++i) total += power(number(z(i)) - shift);
  const auto is_rounded = [&](const Factors& term) {
    const double power_of = number(term.front()) - shift;
    return powers && std::isfinite(power_of) && style.rounds(power_of);
  };
  const bool rounded = std::any_of(slice.begin(), slice.end(), is_rounded);
  right.lines.push_back({"=", computed().fixed(power(number(own) - shift)) + " / " + computed().fixed(total),
                         rounded ? Words(say_it({"with the exponents unrounded", "指数未经舍入"})) : Words()});
  if (shifted) right.remark.add(say_it(phrase::maximum_subtracted, style.text(largest)));
  if (terms > most_exponentials) right.remark.add(shifted ? " " : "").add(say_it(phrase::terms, terms));
  return right;
}

}  // namespace mha::show
