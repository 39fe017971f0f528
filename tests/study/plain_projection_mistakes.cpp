// Mistakes in Q, K and V: each is made in the weights and biases of the heads.
#include <array>
#include <string_view>

#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

using Part = PlainLinears PlainLayer::*;
constexpr std::array<Part, 3> parts = {&PlainLayer::Q, &PlainLayer::K, &PlainLayer::V};
constexpr std::array<std::string_view, 3> suffixes = {"_q", "_k", "_v"};
constexpr std::size_t k_part = 1;

const Linear& linear_of(const Problem& p, std::size_t part) {
  return part == 0 ? p.Q : part == k_part ? p.K : p.V;
}
Index inputs_of(const Problem& p, std::size_t part) {
  return part == 0 ? p.d_model() : p.d_kv();
}
Index width_of(const Problem& p, std::size_t part) {
  return part == 2 ? p.d_v() : p.d_k();
}
Index heads_of(const Problem& p, std::size_t part) {
  return part == 0 ? p.heads : p.kv_heads;
}

// Q's weights would serve as K's and V's, and the reverse.
bool is_ungrouped(const Problem& p) {
  return p.heads == p.kv_heads;
}
bool same_sources(const Problem& p) {
  return p.d_model() == p.d_kv();
}
bool is_uniform(const Problem& p) {
  return is_ungrouped(p) && same_sources(p) && values_as_wide_as_keys(p);
}

// The weights of all heads side by side are square, so that a transpose goes unnoticed; or each head's own are.
bool square_together(const Problem& p, std::size_t part) {
  return inputs_of(p, part) == heads_of(p, part) * width_of(p, part);
}
bool square_each(const Problem& p, std::size_t part) {
  return heads_of(p, part) > 1 && !p.packed && inputs_of(p, part) == width_of(p, part);
}

PlainHeads weights_of(const PlainLinears& linears) {
  PlainHeads result;
  for (const PlainLinear& linear : linears) result.push_back(linear.W);
  return result;
}

void set_weights(PlainLinears& linears, const PlainHeads& weights) {
  for (std::size_t i = 0; i < linears.size(); ++i) linears[i].W = weights[i];
}

void transpose_together(PlainLinears& linears) {
  set_weights(linears, cut(transposed(side_by_side(weights_of(linears))), static_cast<Index>(linears.size())));
}

void transpose_each(PlainLinears& linears) {
  set_weights(linears, each_head(weights_of(linears), transposed));
}

void add_transposes(std::vector<PlainMistake>& list, std::string detail, bool (*fits)(const Problem&, std::size_t),
                    void (*transpose)(PlainLinears&)) {
  list.push_back({"weights_transposed", detail, [fits](const Problem& p) { return fits(p, 0) && fits(p, 1) && fits(p, 2); },
                  [transpose](PlainSetting& s) {
                    for (const Part part : parts) transpose(s.layer.*part);
                  }});
  for (std::size_t k = 0; k < parts.size(); ++k)
    list.push_back({"weights_transposed" + std::string(suffixes[k]), detail,
                    [fits, k](const Problem& p) { return fits(p, k); },
                    [transpose, k](PlainSetting& s) { transpose(s.layer.*parts[k]); }});
}

void forget_bias(PlainLinears& linears) {
  for (PlainLinear& linear : linears) linear.b = {};
}

void add_forgotten_biases(std::vector<PlainMistake>& list) {
  list.push_back({"bias_forgotten", "", [](const Problem& p) { return p.Q.b || p.K.b || p.V.b; },
                  [](PlainSetting& s) {
                    for (const Part part : parts) forget_bias(s.layer.*part);
                  }});
  for (std::size_t k = 0; k < parts.size(); ++k)
    list.push_back({"bias_forgotten" + std::string(suffixes[k]), "",
                    [k](const Problem& p) { return linear_of(p, k).b.has_value(); },
                    [k](PlainSetting& s) { forget_bias(s.layer.*parts[k]); }});
}

// All columns of W_QKV, or of b_QKV, one block of the width of a head after the other; empty where there is no bias.
PlainHeads fused_blocks(const PlainLayer& layer, PlainMatrix PlainLinear::*of) {
  PlainHeads blocks;
  for (const Part part : parts)
    for (const PlainLinear& linear : layer.*part) blocks.push_back(linear.*of);
  return blocks;
}

// Hands the blocks to the projections in another order: `reading` names the projection that takes the next block.
void deal_out(PlainLayer& layer, const std::vector<PlainLinear*>& reading) {
  const PlainHeads W = fused_blocks(layer, &PlainLinear::W), b = fused_blocks(layer, &PlainLinear::b);
  for (std::size_t i = 0; i < reading.size(); ++i) *reading[i] = {W[i], b[i]};
}

void add_packed(std::vector<PlainMistake>& list) {
  constexpr std::array<std::array<std::size_t, 3>, 5> orders = {{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : orders) {
    std::string detail = "columns read as";
    for (const std::size_t part : order) detail += std::string(" ") + "QKV"[part];
    list.push_back({"packed_order", detail, [](const Problem& p) { return p.fused; },
                    [order](PlainSetting& s) {
                      std::vector<PlainLinear*> reading;
                      for (const std::size_t part : order)
                        for (PlainLinear& linear : s.layer.*parts[part]) reading.push_back(&linear);
                      deal_out(s.layer, reading);
                    }});
  }
  list.push_back({"packed_interleaved", "", [](const Problem& p) { return p.fused && is_ungrouped(p) && p.heads > 1; },
                  [](PlainSetting& s) {
                    std::vector<PlainLinear*> reading;
                    for (std::size_t head = 0; head < s.layer.Q.size(); ++head)
                      for (const Part part : parts) reading.push_back(&(s.layer.*part)[head]);
                    deal_out(s.layer, reading);
                  }});
}

// Weights that pass on this head's slice of the input as it is: columns of the identity.
PlainLinears pass_slices(Index inputs, Index heads) {
  const PlainMatrix identity = build(inputs, inputs, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  PlainLinears result;
  for (const PlainMatrix& slice : cut(identity, heads)) result.push_back({slice, {}});
  return result;
}

void add_unprojected(std::vector<PlainMistake>& list) {
  list.push_back(
      {"no_projection", "", [](const Problem& p) { return is_uniform(p) && square_together(p, 0); },
       [](PlainSetting& s) { s.layer.Q = s.layer.K = s.layer.V = pass_slices(s.layer.X.cols, s.layer.heads()); }});
  list.push_back({"v_not_projected", "", [](const Problem& p) { return square_together(p, 2); },
                  [](PlainSetting& s) { s.layer.V = pass_slices(s.layer.X_kv.cols, s.layer.kv_heads()); }});
  list.push_back({"relu_projection", "", always,
                  [](PlainSetting& s) { s.finish_projection = [](double x) { return x > 0 ? x : 0; }; }});
}

// One projection with the weights of another, or two exchanged; with the other's biases, or still with their own.
void add_from_another(std::vector<PlainMistake>& list) {
  struct Taken {
    const char* id;
    std::size_t to, from;
    bool both;
  };
  constexpr std::array all = {Taken{"q_from_wk", 0, 1, false}, Taken{"q_from_wv", 0, 2, false},
                              Taken{"k_from_wq", 1, 0, false}, Taken{"k_from_wv", 1, 2, false},
                              Taken{"v_from_wq", 2, 0, false}, Taken{"swap_kv", 1, 2, true}};
  for (const Taken& taken : all)
    for (const bool own_bias : {false, true}) {
      const auto applies = [=](const Problem& p) {
        const bool with_bias = linear_of(p, taken.to).b || linear_of(p, taken.from).b;
        return heads_of(p, taken.to) == heads_of(p, taken.from) && inputs_of(p, taken.to) == inputs_of(p, taken.from) &&
               width_of(p, taken.to) == width_of(p, taken.from) && (with_bias || !own_bias);
      };
      list.push_back({taken.id, own_bias ? "with its own bias" : "", applies, [=](PlainSetting& s) {
                        PlainLinears &to = s.layer.*parts[taken.to], &from = s.layer.*parts[taken.from];
                        const PlainLinears to_before = to, from_before = from;
                        to = from_before;
                        if (taken.both) from = to_before;
                        for (std::size_t i = 0; own_bias && i < to.size(); ++i) {
                          to[i].b = to_before[i].b;
                          from[i].b = from_before[i].b;
                        }
                      }});
    }
}

void add_exchanged(std::vector<PlainMistake>& list) {
  list.push_back({"swap_qk", "", [](const Problem& p) { return is_ungrouped(p) && same_sources(p); },
                  [](PlainSetting& s) { std::swap(s.layer.Q, s.layer.K); }});
  add_from_another(list);
  list.push_back({"v_from_wk", "", values_as_wide_as_keys, [](PlainSetting& s) { s.layer.V = s.layer.K; }});
  list.push_back({"one_projection", "", is_uniform, [](PlainSetting& s) { s.layer.K = s.layer.V = s.layer.Q; }});
  list.push_back({"same_weights", "", has_several_heads, [](PlainSetting& s) {
                    for (const Part part : parts) {
                      PlainLinears& linears = s.layer.*part;
                      set_weights(linears, PlainHeads(linears.size(), linears.front().W));
                    }
                  }});
}

// A head that is given only its slice of X, rows first … first+count of the weights, leaves all other rows unused.
PlainMatrix only_rows(const PlainMatrix& block, Index inputs, Index first) {
  return build(inputs, block.cols,
               [&](Index i, Index j) { return i >= first && i < first + block.rows ? block.at(i - first, j) : 0.0; });
}

PlainMatrix rows_of(const PlainMatrix& W, Index first, Index count) {
  return build(count, W.cols, [&](Index i, Index j) { return W.at(first + i, j); });
}

// Head i: slice i of X times rows slice i of its own weights (the diagonal block), or times head 1's for all of them.
void split_input(PlainLinears& linears, bool shared) {
  const PlainMatrix first = linears.front().W;
  const Index inputs = first.rows, count = inputs / static_cast<Index>(linears.size());
  for (std::size_t i = 0; i < linears.size(); ++i) {
    const Index from = static_cast<Index>(i) * count;
    linears[i].W = only_rows(shared ? rows_of(first, 0, count) : rows_of(linears[i].W, from, count), inputs, from);
  }
}

void add_split_input(std::vector<PlainMistake>& list) {
  list.push_back({"split_input", "",
                  [](const Problem& p) {
                    return is_ungrouped(p) && p.heads > 1 && p.d_model() % p.heads == 0 && p.d_kv() % p.heads == 0;
                  },
                  [](PlainSetting& s) {
                    for (const Part part : parts) split_input(s.layer.*part, false);
                  }});
  list.push_back({"split_input_shared", "",
                  [](const Problem& p) { return is_uniform(p) && p.heads > 1 && square_together(p, 0); },
                  [](PlainSetting& s) {
                    for (const Part part : parts) split_input(s.layer.*part, true);
                  }});
}

}  // namespace

std::vector<PlainMistake> plain_projection_mistakes() {
  std::vector<PlainMistake> list;
  add_transposes(list, "", square_together, transpose_together);
  add_transposes(list, "each head's own", square_each, transpose_each);
  add_forgotten_biases(list);
  add_exchanged(list);
  add_packed(list);
  add_unprojected(list);
  add_split_input(list);
  return list;
}

}  // namespace mha::test
