// Spells products out term by term, and the output with the share of each head.
#include "show/notation.hpp"
#include "show/spelling.hpp"
#include "show/sum_text.hpp"

namespace mha {
namespace {

constexpr Index most_terms = 16;
constexpr Index most_heads = 16;  // whose shares of an output entry are told apart
constexpr Index most_terms_of_all_heads = 32, most_terms_of_one_head = 3;

}  // namespace

// Σ a[row,k]·b[k,column] for k in first … last − 1.
std::string Spelling::products(EntryAt at, Index first, Index last, Index most) const {
  return sum_text(last - first, most, [&](Index k) {
    return operands_[0].term(at.row, first + k) + "·" + operands_[1].term(first + k, at.column);
  });
}

Spelling::RightSide Spelling::product(EntryAt at) const {
  const Index terms = operands_[0].columns();
  std::string sum = products(at, 0, terms, most_terms);
  if (operands_.size() > 2) sum += " + " + operands_[2].term(0, at.column);
  return equal_to(std::move(sum), terms > most_terms ? Words(say_it(phrase::terms, terms)) : Words());
}

Spelling::RightSide Spelling::output_by_head(EntryAt at) const {
  const Index heads = scene_.problem.heads, d_v = scene_.problem.d_v();
  if (heads == 1 || heads > most_heads) return product(at);
  const Index most = heads * d_v > most_terms_of_all_heads ? most_terms_of_one_head : most_terms;
  RightSide right;
  for (Index head = 0; head < heads; ++head) {
    double share = 0;
    for (Index k = head * d_v; k < (head + 1) * d_v; ++k)
      share += operands_[0].at(at.row, k) * operands_[1].at(k, at.column);
    right.lines.push_back({head == 0 ? "=" : "+", products(at, head * d_v, (head + 1) * d_v, most),
                           say_it(phrase::head_share, scene_.counted(head), result_.style().text(share))});
  }
  if (operands_.size() > 2)
    right.lines.push_back({"+", operands_[2].term(0, at.column), symbol(scene_, step_.in[2], place_)});
  return right;
}

}  // namespace mha
