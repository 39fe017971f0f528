// Spells sums out term by term: products, and the output with the share of each head.
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

constexpr Index most_terms = 16;
constexpr Index most_heads = 16;  // whose shares of an output entry are told apart
constexpr Index most_terms_of_all_heads = 32, most_terms_of_one_head = 3;

// The entries that a product multiplies, as its operands are stored.
EntryAt stored(bool transposed, Index row, Index column) {
  return transposed ? EntryAt{column, row} : EntryAt{row, column};
}

Index inner_size(const Step& step, const Plan& plan) {
  const Shape& a = plan.value(step.in[0]).shape;
  return step.first_transposed ? a.rows : a.cols;
}

}  // namespace

Index Spelling::summand_count() const {
  const auto operands = static_cast<Index>(operands_.size());
  switch (step_.op) {
    case Op::product: return inner_size(step_, scene_.plan) + operands - 2;
    case Op::add: return operands;
    case Op::softmax: return slice_size();
    case Op::pool: return value_of(0).shape.heads;
    case Op::split:
    case Op::rotate:
    case Op::multiply:
    case Op::softcap:
    case Op::merge:
    case Op::copy:
    case Op::relu:
    case Op::reshape: return 0;
  }
  return 0;
}

// Of a product first a[row,i]·b[i,column] for each i, then what else is added.
std::vector<ReadEntry> Spelling::factors(EntryAt at, Index i) const {
  if (step_.op == Op::softmax) return {in_slice(at, i)};
  if (step_.op == Op::pool) return {{0, place_of_head(scene_, step_.in[0], place_.item, i), at}};
  if (step_.op == Op::add) return {in_operand(static_cast<std::size_t>(i), at)};
  const Index inner = inner_size(step_, scene_.plan);
  if (i >= inner) return {in_operand(static_cast<std::size_t>(i - inner) + 2, at)};
  return {same_place(0, stored(step_.first_transposed, at.row, i)), same_place(1, stored(step_.transposed, i, at.column))};
}

std::string Spelling::summand_text(EntryAt at, Index i, As as) const {
  std::string text;
  for (const ReadEntry& factor : factors(at, i)) text += (text.empty() ? "" : "·") + word(factor, as);
  return text;
}

std::string Spelling::summands_text(EntryAt at, Index first, Index last, Index most, As as) const {
  return series_text(last - first, most, [&](Index i) { return summand_text(at, first + i, as); });
}

double Spelling::summand_value(EntryAt at, Index i) const {
  double value = 1;
  for (const ReadEntry& factor : factors(at, i)) value *= number(factor);
  return value;
}

Spelling::RightSide Spelling::product(EntryAt at, As as) const {
  const Index inner = inner_size(step_, scene_.plan), all = summand_count();
  std::string sum = summands_text(at, 0, inner, most_terms, as);
  for (Index i = inner; i < all; ++i) sum += " + " + summand_text(at, i, as);
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
  const Index inner = inner_size(step_, scene_.plan);
  std::vector<double> shares(static_cast<std::size_t>(*heads), 0);
  for (Index i = 0; i < inner; ++i) shares[static_cast<std::size_t>(i * *heads / inner)] += summand_value(at, i);
  return shares;
}

Spelling::RightSide Spelling::product_by_head(EntryAt at, As as) const {
  const Index inner = inner_size(step_, scene_.plan), all = summand_count();
  const std::vector<double> shares = head_shares(at);
  const Index d_v = inner / static_cast<Index>(shares.size());
  const Index most = inner > most_terms_of_all_heads ? most_terms_of_one_head : most_terms;
  RightSide right;
  for (std::size_t head = 0; head < shares.size(); ++head) {
    const Index first = static_cast<Index>(head) * d_v;
    Words share = say_it(phrase::head_share, scene_.counted(static_cast<Index>(head)), result_.style().text(shares[head]));
    right.lines.push_back({head == 0 ? "=" : "+", summands_text(at, first, first + d_v, most, as),
                           as == As::numbers ? std::move(share) : Words()});
  }
  for (Index i = inner; i < all; ++i) {
    Words name = symbol(scene_, step_.in[static_cast<std::size_t>(i - inner) + 2], place_);
    right.lines.push_back({"+", summand_text(at, i, as), as == As::numbers ? std::move(name) : Words()});
  }
  return right;
}

std::vector<Summand> Spelling::summands(EntryAt at) const {
  std::vector<Summand> result;
  if (step_.op == Op::pool && step_.pooling == Pooling::maximum) return result;
  if (step_.op == Op::softmax && is_empty_slice(at)) return result;
  for (Index i = 0; i < summand_count(); ++i) {
    if (step_.op == Op::softmax)
      result.push_back(exponential(at, i));
    else
      result.push_back(
          {factors(at, i), summand_text(at, i, As::names), summand_text(at, i, As::numbers), summand_value(at, i)});
  }
  return result;
}

std::vector<ReadEntry> Spelling::entries_read(EntryAt at) const {
  if (step_.op == Op::rotate) return turned_together(at);
  if (step_.op == Op::multiply) return {source(at), in_operand(1, at)};
  if (summand_count() == 0) return {source(at)};
  std::vector<ReadEntry> all;
  for (Index i = 0; i < summand_count(); ++i) {
    const std::vector<ReadEntry> some = factors(at, i);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mha::show
