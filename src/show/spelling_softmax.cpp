// Spells softmax out: one exponential over the sum of its row's.
#include <cmath>

#include "show/spelling.hpp"
#include "show/sum_text.hpp"

namespace mha {
namespace {

constexpr Index most_exponentials = 8;

// Between these, the exponentials can be checked with the decimals of a page; beyond, the maximum is subtracted in sight.
constexpr double smallest_maximum = -2, largest_maximum = 8;

// NaN where the row holds one: it has no maximum.
double maximum_of_row(const View& scores, Index row) {
  double maximum = minus_infinity;
  for (Index j = 0; j < scores.columns() && !std::isnan(maximum); ++j)
    if (!(scores.at(row, j) <= maximum)) maximum = scores.at(row, j);
  return maximum;
}

}  // namespace

Spelling::RightSide Spelling::softmax(EntryAt at) const {
  const View& scores = operands_[0];
  const Index terms = scores.columns();
  const double maximum = maximum_of_row(scores, at.row);
  if (maximum == minus_infinity)
    return {{}, say_words(scene_.options.language, phrase::no_key_here, {query_name(scene_, place_.item, at.row)})};

  const bool shifted = maximum < smallest_maximum || maximum > largest_maximum;
  const auto exponent = [&](Index j) { return scores.at(at.row, j) - (shifted ? maximum : 0); };
  const auto power = [&](Index j) { return "e^" + scores.style().text(exponent(j)); };
  double sum = 0;
  for (Index j = 0; j < terms; ++j) sum += std::exp(exponent(j));

  Words remark;
  if (shifted) remark.add(say_it(phrase::maximum_subtracted, scores.style().text(maximum)));
  if (terms > most_exponentials) remark.add(shifted ? " " : "").add(say_it(phrase::terms, terms));
  return {{{"=", power(at.column) + " / (" + sum_text(terms, most_exponentials, power) + ")", {}},
           {"=", computed().fixed(std::exp(exponent(at.column))) + " / " + computed().fixed(sum), {}}},
          std::move(remark)};
}

}  // namespace mha
