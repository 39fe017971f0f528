// Mistakes from the head output on: what the weights mix, how the heads come together, the output projection.
#include <algorithm>
#include <cmath>

#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

bool has_projection(const Problem& p) {
  return !p.output_is_concat;
}

void add_mixes(std::vector<PlainMistake>& list) {
  const auto add = [&list](const char* id, bool (*applies)(const Problem&),
                           PlainMatrix (*mix)(const PlainMatrix&, const PlainHead&)) {
    list.push_back({id, "", applies, [mix](PlainSetting& s) { s.mix = mix; }});
  };
  add("attention_transposed", has_square_scores,
      [](const PlainMatrix& weights, const PlainHead& head) { return times(transposed(weights), head.V); });
  add("k_for_v", values_as_wide_as_keys,
      [](const PlainMatrix& weights, const PlainHead& head) { return times(weights, head.K); });
  add(
      "q_for_v", [](const Problem& p) { return values_as_wide_as_keys(p) && has_square_scores(p); },
      [](const PlainMatrix& weights, const PlainHead& head) { return times(weights, head.Q); });
}

PlainMatrix below_one_another(const PlainHeads& heads) {
  PlainMatrix result{0, heads.front().cols, {}};
  for (const PlainMatrix& head : heads) {
    result.rows += head.rows;
    result.numbers.insert(result.numbers.end(), head.numbers.begin(), head.numbers.end());
  }
  return result;
}

// The memory of h×n×d_v numbers read as n×(h·d_v).
PlainMatrix read_through(const PlainHeads& heads) {
  return reread(below_one_another(heads), heads.front().rows, heads.front().cols * static_cast<Index>(heads.size()));
}

PlainMatrix reversed(PlainHeads heads) {
  std::reverse(heads.begin(), heads.end());
  return side_by_side(heads);
}

// The first column of each head, then the second of each, …
PlainMatrix interleaved(const PlainHeads& heads) {
  const auto count = static_cast<Index>(heads.size());
  return build(heads.front().rows, heads.front().cols * count,
               [&](Index i, Index j) { return heads[static_cast<std::size_t>(j % count)].at(i, j / count); });
}

PlainMatrix summed(const PlainHeads& heads) {
  PlainMatrix sum = heads.front();
  for (std::size_t k = 1; k < heads.size(); ++k) sum = plus(sum, heads[k]);
  return sum;
}

PlainMatrix averaged(const PlainHeads& heads) {
  return each_entry(summed(heads), [&](double sum) { return sum / static_cast<double>(heads.size()); });
}

PlainMatrix largest(const PlainHeads& heads) {
  return build(heads.front().rows, heads.front().cols, [&](Index i, Index j) {
    double most = heads.front().at(i, j);
    for (const PlainMatrix& head : heads)
      if (std::isnan(head.at(i, j)) || head.at(i, j) > most) most = head.at(i, j);
    return most;
  });
}

void add_merges(std::vector<PlainMistake>& list) {
  using Merge = PlainMatrix (*)(const PlainHeads&);
  const auto add = [&list](const char* id, Merge merge) {
    list.push_back({id, "", has_several_heads, [merge](PlainSetting& s) { s.merge = merge; }});
  };
  add("merge_without_transpose", read_through);
  add("concat_reversed", [](const PlainHeads& heads) { return reversed(heads); });
  add("concat_interleaved", interleaved);
  const auto add_misfit = [&list](const char* id, Merge merge) {  // W_O no longer fits
    list.push_back({id, "", has_several_heads, [merge](PlainSetting& s) {
                      s.merge = merge;
                      s.layer.W_O = {};
                    }});
  };
  add_misfit("heads_averaged", averaged);
  add_misfit("heads_summed", summed);
  add_misfit("heads_max", largest);
  add_misfit("concat_rows", below_one_another);
}

void add_outputs(std::vector<PlainMistake>& list) {
  list.push_back({"wo_missing", "", has_projection, [](PlainSetting& s) { s.layer.W_O = {}; }});
  list.push_back({"wo_transposed", "", [](const Problem& p) { return has_projection(p) && p.d_out() == p.heads * p.d_v(); },
                  [](PlainSetting& s) { s.layer.W_O = transposed(s.layer.W_O); }});
  list.push_back({"bo_forgotten", "", [](const Problem& p) { return has_projection(p) && p.O.b.has_value(); },
                  [](PlainSetting& s) { s.layer.b_O = {}; }});
  list.push_back({"residual_added", "", [](const Problem& p) { return p.d_out() == p.d_model(); },
                  [](PlainSetting& s) { s.finish_output = plus; }});
  list.push_back({"relu_output", "", always, [](PlainSetting& s) {
                    s.finish_output = [](const PlainMatrix& output, const PlainMatrix&) {
                      return each_entry(output, [](double y) { return y < 0 ? 0 : y; });
                    };
                  }});
}

}  // namespace

std::vector<PlainMistake> plain_output_mistakes() {
  std::vector<PlainMistake> list;
  add_mixes(list);
  add_merges(list);
  add_outputs(list);
  return list;
}

}  // namespace mha::test
