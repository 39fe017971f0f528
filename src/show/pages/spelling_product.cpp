// Spells sums out term by term: products, and the output with the share of each head.

#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

constexpr Index most_terms = 16;
constexpr Index most_heads = 16;  // whose shares of an output entry are told apart
constexpr Index most_terms_of_all_heads = 32, most_terms_of_one_head = 3;

// How many of the terms are products; what follows are biases.
Index products_in(const Terms& terms) {
  return std::count_if(terms.begin(), terms.end(), [](const Factors& factors) { return factors.size() > 1; });
}

}  // namespace

std::string Spelling::term_text(const Factors& factors, As as) const {
  std::string text;
  for (const ReadEntry& factor : factors) text += (text.empty() ? "" : "·") + word(factor, as);
  return text;
}

std::string Spelling::sum_text(const Terms& terms, Index first, Index last, Index most, As as) const {
  const auto term = [&](Index i) { return term_text(terms[static_cast<std::size_t>(first + i)], as); };
  return series_text(last - first, most, term);
}

double Spelling::term_value(const Factors& factors) const {
  double value = 1;
  for (const ReadEntry& factor : factors) value *= number(factor);
  return value;
}

Spelling::RightSide Spelling::product(const Terms& terms, As as) const {
  const Index all = static_cast<Index>(terms.size()), inner = step_.op == Op::sum ? all : products_in(terms);
  std::string sum = sum_text(terms, 0, inner, most_terms, as);
  if (all > inner) sum += " + " + sum_text(terms, inner, all, all, as);
  return equal_to(std::move(sum), inner > most_terms ? Words(say_it(phrase::terms, inner)) : Words());
}

// How many there are, where the first operand is the heads side by side and their shares are worth telling apart.
std::optional<Index> Spelling::heads_beside_each_other() const {
  if (step_.op != Op::product || step_.first_transposed) return std::nullopt;
  for (const Step& earlier : scene_.plan.steps) {
    if (earlier.out != step_.in[0]) continue;
    const Index heads = scene_.plan.value(earlier.in[0]).shape.heads;
    const bool merged = earlier.op == Op::merge && earlier.arrangement == Arrangement::side_by_side;
    if (merged && heads > 1 && heads <= most_heads) return heads;
  }
  return std::nullopt;
}

std::vector<double> Spelling::head_shares(EntryAt at) const {
  const std::optional<Index> heads = heads_beside_each_other();
  if (!heads) return {};
  const Terms terms = this->terms(at);
  const Index inner = products_in(terms);
  std::vector<double> shares(static_cast<std::size_t>(*heads), 0);
  for (Index i = 0; i < inner; ++i)
    shares[static_cast<std::size_t>(i * *heads / inner)] += term_value(terms[static_cast<std::size_t>(i)]);
  return shares;
}

Spelling::RightSide Spelling::product_by_head(const Terms& terms, Index heads, As as) const {
  const Index inner = products_in(terms), d_v = inner / heads;
  const Index most = inner > most_terms_of_all_heads ? most_terms_of_one_head : most_terms;
  RightSide right;
  for (Index head = 0; head < heads; ++head) {
    const Index first = head * d_v;
    double sum = 0;
    for (Index i = first; i < first + d_v; ++i) sum += term_value(terms[static_cast<std::size_t>(i)]);
    Words share = say_it({"head {}: {}", "头 {}：{}"}, scene_.counted(head), result_.style().text(sum));
    right.lines.push_back({head == 0 ? "=" : "+", sum_text(terms, first, first + d_v, most, as),
                           as == As::numbers ? std::move(share) : Words()});
  }
  for (auto bias = terms.begin() + inner; bias != terms.end(); ++bias) {
    Words name = symbol(scene_, step_.in[bias->front().operand], place_);
    right.lines.push_back({"+", term_text(*bias, as), as == As::numbers ? std::move(name) : Words()});
  }
  return right;
}

std::vector<Summand> Spelling::summands(EntryAt at) const {
  const OpInfo info = info_of(step_.op);
  std::vector<Summand> result;
  if (!info.sums || (step_.op == Op::pool && step_.pooling == Pooling::maximum)) return result;
  const Terms terms = this->terms(at);
  const bool normalises = info.shares != Shares::none;
  if (normalises && largest_in(terms) == minus_infinity) return result;
  const std::optional<double> shift = normalises ? maximum_of(terms) : std::nullopt;
  for (const Factors& term : terms)
    result.push_back(normalises
                         ? exponential(term.front(), shift)
                         : Summand{term, term_text(term, As::names), term_text(term, As::numbers), term_value(term)});
  return result;
}

}  // namespace mha::show
