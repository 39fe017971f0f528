// Which part of the weights, of Q, K and V and of the heads' outputs is read for which; and what a mask hides, and how.
#include "study/mistakes/plain_mistakes.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace mha::test {
namespace {

using Mistakes = std::vector<PlainMistake>;

using LayerPart = PlainLinears PlainLayer::*;
constexpr std::array<LayerPart, 3> parts = {&PlainLayer::Q, &PlainLayer::K, &PlainLayer::V};

// ── The columns of W_QKV ──

// Hands the blocks of columns, one of the width of a head after the other, to the projections in another order: `reading`
// names the projection that takes the next block.
void deal_out(PlainLayer& layer, const std::vector<PlainLinear*>& reading) {
  PlainLinears blocks;
  for (const LayerPart part : parts) blocks.insert(blocks.end(), (layer.*part).begin(), (layer.*part).end());
  for (std::size_t i = 0; i < reading.size(); ++i) *reading[i] = blocks[i];
}

void add_packed(Mistakes& list) {
  constexpr std::array<std::array<std::size_t, 3>, 5> orders = {{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : orders)
    list.push_back({"packed_order", [order](PlainSetting& s) {
                      std::vector<PlainLinear*> reading;
                      for (const std::size_t part : order)
                        for (PlainLinear& linear : s.layer.*parts[part]) reading.push_back(&linear);
                      deal_out(s.layer, reading);
                    }});
  list.push_back({"packed_interleaved", [](PlainSetting& s) {
                    std::vector<PlainLinear*> reading;
                    for (std::size_t head = 0; head < s.layer.Q.size(); ++head)
                      for (const LayerPart part : parts) reading.push_back(&(s.layer.*part)[head]);
                    deal_out(s.layer, reading);
                  }});
}

// ── A slice of X for each head ──

// A head that is given only its slice of X, rows first … first+count of the weights, leaves all other rows unused.
PlainMatrix only_rows(const PlainMatrix& block, Index inputs, Index first) {
  return build(inputs, block.cols,
               [&](Index i, Index j) { return i >= first && i < first + block.rows ? block.at(i - first, j) : 0.0; });
}

PlainMatrix rows_of(const PlainMatrix& W, Index first, Index count) {
  return build(count, W.cols, [&](Index i, Index j) { return W.at(first + i, j); });
}

// Head i: slice i of X times rows slice i of its own weights (the diagonal block), or times head 1's for all of them.
void split_input(PlainLayer& layer, bool shared) {
  for (const LayerPart part : parts) {
    PlainLinears& linears = layer.*part;
    const PlainMatrix first = linears.front().W;
    const Index inputs = first.rows, count = inputs / static_cast<Index>(linears.size());
    for (std::size_t i = 0; i < linears.size(); ++i) {
      const Index from = static_cast<Index>(i) * count;
      linears[i].W = only_rows(shared ? rows_of(first, 0, count) : rows_of(linears[i].W, from, count), inputs, from);
    }
  }
}

// ── Which columns a head gets ──

// Head i of h has column j of these d columns at place(i, j, h, d).
template <typename Place>
void split_by(PlainSetting& s, Place place) {
  s.split = [place](const PlainMatrix& all, Index heads) {
    PlainHeads result;
    for (Index i = 0; i < heads; ++i)
      result.push_back(build(all.rows, all.cols / heads,
                             [&](Index row, Index j) { return all.at(row, place(i, j, heads, all.cols / heads)); }));
    return result;
  };
}

// The memory of n×D numbers read as h matrices n×d_k, one after the other.
PlainHeads reread_as_heads(const PlainMatrix& all, Index heads) {
  PlainHeads result;
  for (const PlainMatrix& row : cut(reread(all, 1, all.rows * all.cols), heads))
    result.push_back(reread(row, all.rows, all.cols / heads));
  return result;
}

void keep_one_head(PlainSetting& s) {
  s.layer.kv_head = {0};
  s.split = [](const PlainMatrix& all, Index) { return PlainHeads{all}; };
}

void keep_one_wide_head(PlainSetting& s) {
  s.layer.scale = 1 / std::sqrt(static_cast<double>(s.layer.heads() * s.layer.d_k()));
  keep_one_head(s);
}

void add_splits(Mistakes& list) {
  list.push_back({"split_input", [](PlainSetting& s) { split_input(s.layer, false); }});
  list.push_back({"split_input_shared", [](PlainSetting& s) { split_input(s.layer, true); }});
  list.push_back({"reshape_without_transpose", [](PlainSetting& s) { s.split = reread_as_heads; }});
  list.push_back(
      {"strided_heads", [](PlainSetting& s) { split_by(s, [](Index i, Index j, Index h, Index) { return i + j * h; }); }});
  list.push_back({"heads_reversed", [](PlainSetting& s) {
                    split_by(s, [](Index i, Index j, Index h, Index d) { return (h - 1 - i) * d + j; });
                  }});
  list.push_back({"not_split", keep_one_head});
  list.push_back({"not_split", keep_one_wide_head});
}

void add_grouping(Mistakes& list, const char* id, Index (*rule)(Index i, Index g)) {
  list.push_back({id, [rule](PlainSetting& s) {
                    for (std::size_t i = 0; i < s.layer.kv_head.size(); ++i)
                      s.layer.kv_head[i] = rule(static_cast<Index>(i), s.layer.kv_heads());
                  }});
}

// ── How the heads come together ──

PlainMatrix below_one_another(const PlainHeads& heads) {
  PlainMatrix result{0, heads.front().cols, {}};
  for (const PlainMatrix& head : heads) {
    result.rows += head.rows;
    result.numbers.insert(result.numbers.end(), head.numbers.begin(), head.numbers.end());
  }
  return result;
}

// The memory of h×n×d_v numbers read as n×(h·d_v).
PlainMatrix reread_as_one(const PlainHeads& heads) {
  return reread(below_one_another(heads), heads.front().rows, heads.front().cols * static_cast<Index>(heads.size()));
}

// The first column of each head, then the second of each, …
PlainMatrix interleaved(const PlainHeads& heads) {
  const auto count = static_cast<Index>(heads.size());
  return build(heads.front().rows, heads.front().cols * count,
               [&](Index i, Index j) { return heads[static_cast<std::size_t>(j % count)].at(i, j / count); });
}

void add_merges(Mistakes& list) {
  list.push_back({"merge_without_transpose", [](PlainSetting& s) { s.merge = reread_as_one; }});
  list.push_back({"concat_interleaved", [](PlainSetting& s) { s.merge = interleaved; }});
  list.push_back({"concat_rows", [](PlainSetting& s) {
                    s.merge = below_one_another;
                    s.layer.W_O = {};  // no longer fits
                  }});
}

// ── The number in place of a hidden score ──

constexpr double infinity = std::numeric_limits<double>::infinity();

// What the masks add apart from hiding (an "add" mask, ALiBi).
double bias(double added) {
  return is_hidden(added) ? 0 : added;
}
double keep(double added) {
  return is_hidden(added) ? 0 : 1;
}

void mask_the_weights(PlainSetting& s) {
  s.masked = [](double z, double added) { return z + bias(added); };
  s.finish_weights = [](PlainHeads weights, const PlainHeads& added) {
    for (std::size_t k = 0; k < weights.size(); ++k)
      weights[k] = build(weights[k].rows, weights[k].cols,
                         [&](Index i, Index j) { return weights[k].at(i, j) * keep(added[k].at(i, j)); });
    return weights;
  };
}

void add_numbers(Mistakes& list) {
  const auto add = [&list](const char* id, std::function<double(double z, double added)> entry) {
    list.push_back({id, [entry](PlainSetting& s) { s.masked = entry; }});
  };
  add("mask_ignored", [](double z, double) { return z; });
  list.push_back({"mask_after_softmax", mask_the_weights});
  add("mask_multiplied", [](double z, double added) { return (z + bias(added)) * keep(added); });
  for (const double number : {-10.0, -100.0, -1e4, -1e5, -1e-9})
    add("mask_fill_weak", [number](double z, double added) { return is_hidden(added) ? number : z + added; });
  add("mask_inverted", [](double z, double added) { return is_hidden(added) ? z : minus_infinity; });
  add("mask_added", [](double z, double added) { return z + bias(added) + keep(added); });
  add("mask_added_inverted", [](double z, double added) { return z + bias(added) + (1 - keep(added)); });
  add("mask_plus_inf", [](double z, double added) { return is_hidden(added) ? infinity : z + added; });
  add("mask_nan", [](double z, double added) { return z + bias(added) + (1 - keep(added)) * minus_infinity; });
}

// ── What is hidden ──

// Hides anew, in each mask of this kind, what the rule says of query i, key j and the mask.
template <typename Rule>
void hide_anew(PlainLayer& layer, Mask::Kind kind, Rule rule) {
  for (PlainMask& mask : layer.masks) {
    if (mask.kind != kind) continue;
    const PlainMask original = mask;
    for (PlainMatrix& added : mask.added)
      added = build(added.rows, added.cols, [&](Index i, Index j) { return rule(i, j, original) ? minus_infinity : 0.0; });
  }
}

// `ahead`: how far the key stands behind the query.
void add_causal(Mistakes& list, const char* id, bool (*rule)(Index ahead)) {
  list.push_back({id, [rule](PlainSetting& s) {
                    hide_anew(s.layer, Mask::Kind::causal,
                              [rule](Index i, Index j, const PlainMask& mask) { return rule(j - (i + mask.offset)); });
                  }});
}

void add_shapes(Mistakes& list) {
  list.push_back({"padding_on_queries", [](PlainSetting& s) {
                    hide_anew(s.layer, Mask::Kind::padding,
                              [](Index i, Index, const PlainMask& mask) { return is_hidden(mask.added.front().at(0, i)); });
                  }});
  add_causal(list, "mask_transposed", [](Index ahead) { return ahead < 0; });
  add_causal(list, "causal_strict", [](Index ahead) { return ahead >= 0; });
  for (const Index first : {1, 2, 3, 4})  // no study problem has more tokens than 5
    list.push_back({"causal_strict", [first](PlainSetting& s) {
                      for (PlainMask& mask : s.layer.masks)
                        for (PlainMatrix& added : mask.added)
                          for (Index i = first; i < added.rows; ++i)
                            if (mask.kind == Mask::Kind::causal) added.at(i, i) = minus_infinity;
                    }});
  add_causal(list, "causal_one_ahead", [](Index ahead) { return ahead > 1; });
  list.push_back({"causal_corner", [](PlainSetting& s) {
                    const Index other = s.layer.X_kv.rows - s.layer.X.rows;
                    hide_anew(s.layer, Mask::Kind::causal, [other](Index i, Index j, const PlainMask& mask) {
                      return j > i + (mask.offset == 0 ? other : 0);
                    });
                  }});
  for (std::size_t k = 0; k < 2; ++k)  // no study problem has more masks
    list.push_back({"mask_part_ignored",
                    [k](PlainSetting& s) { s.layer.masks.erase(s.layer.masks.begin() + static_cast<std::ptrdiff_t>(k)); }});
}

}  // namespace

std::vector<PlainMistake> plain_mistakes() {
  Mistakes list;
  add_packed(list);
  add_splits(list);
  add_grouping(list, "gqa_tiled", [](Index i, Index g) { return i % g; });
  add_grouping(list, "gqa_wrong_divisor", [](Index i, Index g) { return i / g % g; });
  add_grouping(list, "gqa_first_only", [](Index, Index) { return Index{0}; });
  add_merges(list);
  add_numbers(list);
  add_shapes(list);
  return list;
}

}  // namespace mha::test
