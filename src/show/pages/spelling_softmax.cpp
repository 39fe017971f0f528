// Spells softmax out: one exponential over the sum of those that are normalised with it.
#include <cmath>

#include "show/pages/mask_reason.hpp"
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

constexpr Index most_exponentials = 8;

// Between these, the exponentials can be checked with the decimals of a page; beyond, the maximum is subtracted in sight.
constexpr double smallest_maximum = -2, largest_maximum = 8;

}  // namespace

Index Spelling::slice_size() const {
  const Shape& shape = value_of(0).shape;
  switch (step_.softmax.over) {
    case Softmax::Over::row: return shape.cols;
    case Softmax::Over::column: return shape.rows;
    case Softmax::Over::heads: return shape.heads;
    case Softmax::Over::matrix: return shape.rows * shape.cols;
  }
  return 0;
}

ReadEntry Spelling::in_slice(EntryAt at, Index i) const {
  switch (step_.softmax.over) {
    case Softmax::Over::row: return same_place(0, {at.row, i});
    case Softmax::Over::column: return same_place(0, {i, at.column});
    case Softmax::Over::heads: return {0, place_of_head(scene_, step_.in[0], place_.item, i), at};
    case Softmax::Over::matrix: return same_place(0, {i / operands_[0].columns(), i % operands_[0].columns()});
  }
  return same_place(0, at);
}

// NaN where the slice holds one: it has no maximum.
double Spelling::largest_in_slice(EntryAt at) const {
  double largest = minus_infinity;
  for (Index i = 0; i < slice_size() && !std::isnan(largest); ++i) {
    const double next = number(in_slice(at, i));
    if (!(next <= largest)) largest = next;
  }
  return largest;
}

bool Spelling::is_empty_slice(EntryAt at) const {
  return largest_in_slice(at) == minus_infinity;
}

std::optional<double> Spelling::maximum(EntryAt at) const {
  const bool subtracted =
      step_.op == Op::softmax && step_.softmax.maximum_subtracted && step_.softmax.power != Softmax::Power::none;
  if (!subtracted) return std::nullopt;
  return is_empty_slice(at) ? std::nullopt : std::optional(largest_in_slice(at));
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

Summand Spelling::exponential(EntryAt at, Index i) const {
  const ReadEntry z = in_slice(at, i);
  const std::optional<double> shift = maximum(at);
  const NumberStyle& style = operands_[0].style();
  const std::string name = word(z, As::names), number_text = text(z);
  const auto shifted = [](const std::string& exponent, const std::string& by) { return "(" + exponent + " − " + by + ")"; };
  return {{z},
          power_text(shift ? shifted(name, "max") : name),
          power_text(shift ? shifted(number_text, style.term(*shift)) : number_text),
          power(number(z) - shift.value_or(0))};
}

Spelling::RightSide Spelling::softmax(EntryAt at, As as, bool in_full) const {
  const Language language = scene_.options.language;
  const Index terms = slice_size();
  if (is_empty_slice(at)) {
    const bool is_row = step_.softmax.over == Softmax::Over::row;
    return {{},
            is_row ? say_words(language, phrase::no_key_here, {query_name(scene_, place_.item, at.row)})
                   : Words(say_it(phrase::all_hidden))};
  }
  const std::optional<double> subtracted = maximum(at);
  const double largest = largest_in_slice(at);
  const bool shifted = subtracted && (in_full || largest < smallest_maximum || largest > largest_maximum);
  const double shift = shifted ? largest : 0;
  const NumberStyle& style = operands_[0].style();
  const bool powers = step_.softmax.power != Softmax::Power::none;
  const auto exponent = [&](const ReadEntry& z) {
    if (as == As::names) return shifted ? "(" + word(z, as) + " − max)" : word(z, as);
    return powers ? style.text(number(z) - shift) : style.term(number(z));
  };
  const ReadEntry own = same_place(0, at);
  const std::string one = step_.softmax.one_more ? "1 + " : "";
  const std::string sum =
      one + series_text(terms, most_exponentials, [&](Index i) { return power_text(exponent(in_slice(at, i))); });
  RightSide right = equal_to(power_text(exponent(own)) + " / (" + sum + ")");
  if (as == As::names) return right;

  double total = step_.softmax.one_more ? 1 : 0;
  for (Index i = 0; i < terms; ++i) total += power(number(in_slice(at, i)) - shift);
  right.lines.push_back({"=", computed().fixed(power(number(own) - shift)) + " / " + computed().fixed(total), {}});
  if (shifted) right.remark.add(say_it(phrase::maximum_subtracted, style.text(largest)));
  if (terms > most_exponentials) right.remark.add(shifted ? " " : "").add(say_it(phrase::terms, terms));
  return right;
}

}  // namespace mha::show
