// Mistakes at the softmax: over which numbers, with which power, and what comes of its result.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

using Softmax = std::function<Slice(const Slice&)>;

PlainHeads over_columns(const PlainHeads& masked, const Softmax& softmax) {
  return each_head(over_rows(each_head(masked, transposed), softmax), transposed);
}

PlainHeads over_matrix(const PlainHeads& masked, const Softmax& softmax) {
  return each_head(masked, [&](const PlainMatrix& head) {
    return PlainMatrix{head.rows, head.cols, softmax(head.numbers)};
  });
}

PlainHeads over_heads(const PlainHeads& masked, const Softmax& softmax) {
  PlainHeads weights = masked;
  for (std::size_t place = 0; place < masked.front().numbers.size(); ++place) {
    Slice slice;
    for (const PlainMatrix& head : masked) slice.push_back(head.numbers[place]);
    slice = softmax(slice);
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k].numbers[place] = slice[k];
  }
  return weights;
}

template <typename Slices>
void add_slices(std::vector<PlainMistake>& list, const char* id, Slices slices) {
  list.push_back({id, "", always, [slices](PlainSetting& s) { s.slices = slices; }});
}

Slice divided(Slice slice, double by) {
  for (double& number : slice) number /= by;
  return slice;
}

double sum_of(const Slice& slice) {
  return std::accumulate(slice.begin(), slice.end(), 0.0);
}

template <typename Power>
Slice powers(Slice slice, Power power) {
  std::transform(slice.begin(), slice.end(), slice.begin(), power);
  return slice;
}

double exponential(double z) {
  return std::exp(z);
}

Slice overflowing(const Slice& z, double empty) {
  if (is_all_hidden(z)) return Slice(z.size(), empty);
  const Slice e = powers(z, exponential);
  return divided(e, sum_of(e));
}

Slice one_too_many(const Slice& z, double empty) {
  if (is_all_hidden(z)) return Slice(z.size(), empty);
  const Slice e = powers(z, exponential);
  return divided(e, 1 + sum_of(e));
}

Slice one_too_many_after_maximum(const Slice& z, double empty) {
  if (is_all_hidden(z)) return Slice(z.size(), empty);
  const double largest = *std::max_element(z.begin(), z.end());
  const Slice e = powers(z, [largest](double number) { return std::exp(number - largest); });
  return divided(e, 1 + sum_of(e));
}

Slice twice(const Slice& z, double empty) {
  return plain_softmax(plain_softmax(z, empty), empty);
}

Slice base_two(const Slice& z, double empty) {
  return plain_softmax(powers(z, [](double number) { return number * std::log(2.0); }), empty);
}

Slice as_it_is(const Slice& z, double) {
  return z;
}

Slice by_its_sum(const Slice& z, double empty) {
  return is_all_hidden(z) ? Slice(z.size(), empty) : divided(z, sum_of(z));
}

void add_normaliser(std::vector<PlainMistake>& list, const char* id, const char* detail, Normaliser softmax) {
  list.push_back({id, detail, always, [softmax](PlainSetting& s) { s.softmax = softmax; }});
}

// Without a softmax a mask is either −∞ as told, or 0 where hidden.
void add_unnormalised(std::vector<PlainMistake>& list, const char* id, Normaliser instead) {
  list.push_back(
      {id, "", [](const Problem& p) { return !has_mask(p); }, [instead](PlainSetting& s) { s.softmax = instead; }});
  list.push_back({id, "mask as -inf", has_mask, [instead](PlainSetting& s) { s.softmax = instead; }});
  list.push_back({id, "mask as 0", has_mask, [instead](PlainSetting& s) {
                    s.softmax = instead;
                    s.masked = [](double z, double added) { return is_hidden(added) ? 0 : z + added; };
                  }});
}

PlainHeads averaged(const PlainHeads& weights, const PlainHeads&) {
  PlainMatrix mean = weights.front();
  for (std::size_t k = 1; k < weights.size(); ++k) mean = plus(mean, weights[k]);
  const auto count = static_cast<double>(weights.size());
  return PlainHeads(weights.size(), each_entry(mean, [count](double sum) { return sum / count; }));
}

}  // namespace

std::vector<PlainMistake> plain_weight_mistakes() {
  std::vector<PlainMistake> list;
  add_slices(list, "softmax_columns", over_columns);
  add_slices(list, "softmax_heads", over_heads);
  add_slices(list, "softmax_all", over_matrix);
  add_normaliser(list, "softmax_overflow", "", overflowing);
  add_normaliser(list, "softmax_plus_one", "no maximum subtracted", one_too_many);
  add_normaliser(list, "softmax_plus_one", "maximum subtracted", one_too_many_after_maximum);
  add_normaliser(list, "softmax_twice", "", twice);
  add_normaliser(list, "softmax_base2", "", base_two);
  add_unnormalised(list, "no_softmax", as_it_is);
  add_unnormalised(list, "sum_normalised", by_its_sum);
  list.push_back({"weights_averaged", "", has_several_heads, [](PlainSetting& s) { s.finish_weights = averaged; }});
  return list;
}

}  // namespace mha::test
