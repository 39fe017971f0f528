// Mistakes in what a head gets: its columns, its key/value head, its rotation.
#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

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
PlainHeads read_through(const PlainMatrix& all, Index heads) {
  PlainHeads result;
  for (const PlainMatrix& row : cut(reread(all, 1, all.rows * all.cols), heads))
    result.push_back(reread(row, all.rows, all.cols / heads));
  return result;
}

bool masks_serve_all_heads(const Problem& p) {
  const PlainHeads added = added_by_masks(plain_layer(p));
  for (const PlainMatrix& head : added)
    if (head.numbers != added.front().numbers) return false;
  return true;
}

void keep_one_head(PlainSetting& s) {
  const double D = static_cast<double>(s.layer.heads() * s.layer.d_k());
  if (s.layer.scale) s.layer.scale = 1 / std::sqrt(D);
  s.layer.kv_head = {0};
  s.split = [](const PlainMatrix& all, Index) { return PlainHeads{all}; };
}

void add_splits(std::vector<PlainMistake>& list) {
  list.push_back({"reshape_without_transpose", "", has_several_heads, [](PlainSetting& s) { s.split = read_through; }});
  list.push_back({"strided_heads", "", has_several_heads,
                  [](PlainSetting& s) { split_by(s, [](Index i, Index j, Index h, Index) { return i + j * h; }); }});
  list.push_back({"heads_reversed", "", has_several_heads, [](PlainSetting& s) {
                    split_by(s, [](Index i, Index j, Index h, Index d) { return (h - 1 - i) * d + j; });
                  }});
  list.push_back({"not_split", "",
                  [](const Problem& p) {
                    return has_several_heads(p) && p.heads == p.kv_heads && !p.rope && masks_serve_all_heads(p);
                  },
                  keep_one_head});
}

bool is_grouped(const Problem& p) {
  return p.kv_heads > 1 && p.kv_heads < p.heads;
}

template <typename Rule>
void add_grouping(std::vector<PlainMistake>& list, const char* id, Rule rule) {
  list.push_back({id, "", is_grouped, [rule](PlainSetting& s) {
                    for (std::size_t i = 0; i < s.layer.kv_head.size(); ++i)
                      s.layer.kv_head[i] = rule(static_cast<Index>(i), s.layer.kv_heads());
                  }});
}

bool has_rope(const Problem& p) {
  return p.rope.has_value();
}

template <typename Change>
void add_positions(std::vector<PlainMistake>& list, const char* id, Change change) {
  list.push_back({id, "", has_rope, [change](PlainSetting& s) {
                    for (Index& position : s.layer.rope->query_positions) position = change(position);
                    for (Index& position : s.layer.rope->key_positions) position = change(position);
                  }});
}

void add_rotations(std::vector<PlainMistake>& list) {
  add_positions(list, "rope_missing", [](Index) { return Index{0}; });
  list.push_back({"rope_pairing", "", has_rope, [](PlainSetting& s) {
                    PlainRope& rope = *s.layer.rope;
                    rope.pairing = rope.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
                  }});
  add_positions(list, "rope_direction", [](Index position) { return -position; });
  add_positions(list, "rope_from_one", [](Index position) { return position + 1; });
  list.push_back({"rope_on_values", "", [](const Problem& p) { return has_rope(p) && p.rope->dims <= p.d_v(); },
                  [](PlainSetting& s) {
                    s.mix = [rope = *s.layer.rope](const PlainMatrix& weights, const PlainHead& head) {
                      return times(weights, rotated(head.V, rope, rope.key_positions));
                    };
                  }});
}

}  // namespace

std::vector<PlainMistake> plain_split_mistakes() {
  std::vector<PlainMistake> list;
  add_splits(list);
  add_grouping(list, "gqa_tiled", [](Index i, Index g) { return i % g; });
  add_grouping(list, "gqa_wrong_divisor", [](Index i, Index g) { return i / g % g; });
  add_grouping(list, "gqa_first_only", [](Index, Index) { return Index{0}; });
  add_rotations(list);
  return list;
}

}  // namespace mha::test
