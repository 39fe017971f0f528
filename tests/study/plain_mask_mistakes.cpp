// Mistakes at the mask: which entries are hidden, and with what number.
#include <array>
#include <limits>

#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <Mask::Kind kind>
bool has(const Problem& p) {
  for (const PlainMask& mask : plain_layer(p).masks)
    if (mask.kind == kind) return true;
  return false;
}

// What the masks add apart from hiding (an "add" mask, ALiBi).
double bias(double added) {
  return is_hidden(added) ? 0 : added;
}
double keep(double added) {
  return is_hidden(added) ? 0 : 1;
}

using Entry = std::function<double(double z, double added)>;

PlainMistake entry_mistake(const char* id, std::string detail, Entry entry) {
  return {id, std::move(detail), hides_something, [entry](PlainSetting& s) { s.masked = entry; }};
}

struct Fill {
  const char* name;
  double number;
};
constexpr std::array fills = {Fill{"-10", -10}, Fill{"-100", -100}, Fill{"-1e4", -1e4}, Fill{"-1e5", -1e5},
                              Fill{"-1e-9", -1e-9}};

void add_numbers(std::vector<PlainMistake>& list) {
  list.push_back({"mask_ignored", "", has_mask, [](PlainSetting& s) { s.masked = [](double z, double) { return z; }; }});
  list.push_back({"mask_after_softmax", "", hides_something, [](PlainSetting& s) {
                    s.masked = [](double z, double added) { return z + bias(added); };
                    s.finish_weights = [](PlainHeads weights, const PlainHeads& added) {
                      for (std::size_t k = 0; k < weights.size(); ++k)
                        weights[k] = build(weights[k].rows, weights[k].cols,
                                           [&](Index i, Index j) { return weights[k].at(i, j) * keep(added[k].at(i, j)); });
                      return weights;
                    };
                  }});
  const auto add = [&list](const char* id, Entry entry) { list.push_back(entry_mistake(id, "", entry)); };
  add("mask_multiplied", [](double z, double added) { return (z + bias(added)) * keep(added); });
  for (const auto& [name, fill] : fills)
    list.push_back(entry_mistake(
        "mask_fill_weak", name, [number = fill](double z, double added) { return is_hidden(added) ? number : z + added; }));
  add("mask_inverted", [](double z, double added) { return is_hidden(added) ? z : minus_infinity; });
  add("mask_added", [](double z, double added) { return z + bias(added) + keep(added); });
  add("mask_added_inverted", [](double z, double added) { return z + bias(added) + (1 - keep(added)); });
  add("mask_plus_inf", [](double z, double added) { return is_hidden(added) ? infinity : z + added; });
  add("mask_nan", [](double z, double added) { return z + bias(added) + (1 - keep(added)) * minus_infinity; });
}

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

template <typename Rule>
void add_causal(std::vector<PlainMistake>& list, const char* id, Rule rule) {
  list.push_back({id, "", has<Mask::Kind::causal>, [rule](PlainSetting& s) {
                    hide_anew(s.layer, Mask::Kind::causal,
                              [rule](Index i, Index j, const PlainMask& mask) { return rule(j - (i + mask.offset)); });
                  }});
}

bool has_two_corners(const Problem& p) {
  const Index other = p.keys() - p.queries();
  for (const PlainMask& mask : plain_layer(p).masks)
    if (mask.kind == Mask::Kind::causal && other != 0 && (mask.offset == 0 || mask.offset == other)) return true;
  return false;
}

void add_shapes(std::vector<PlainMistake>& list) {
  list.push_back({"padding_on_queries", "",
                  [](const Problem& p) { return has<Mask::Kind::padding>(p) && has_square_scores(p); },
                  [](PlainSetting& s) {
                    hide_anew(s.layer, Mask::Kind::padding,
                              [](Index i, Index, const PlainMask& mask) { return is_hidden(mask.added.front().at(0, i)); });
                  }});
  add_causal(list, "mask_transposed", [](Index ahead) { return ahead < 0; });
  add_causal(list, "causal_strict", [](Index ahead) { return ahead >= 0; });
  add_causal(list, "causal_one_ahead", [](Index ahead) { return ahead > 1; });
  list.push_back({"causal_corner", "", has_two_corners, [](PlainSetting& s) {
                    const Index other = s.layer.X_kv.rows - s.layer.X.rows;
                    hide_anew(s.layer, Mask::Kind::causal, [other](Index i, Index j, const PlainMask& mask) {
                      return j > i + (mask.offset == 0 ? other : 0);
                    });
                  }});
}

constexpr std::size_t most_masks = 4;

void add_left_out(std::vector<PlainMistake>& list) {
  for (std::size_t k = 0; k < most_masks; ++k)
    list.push_back({"mask_part_ignored", "without mask " + std::to_string(k + 1),
                    [k](const Problem& p) {
                      const std::size_t count = plain_layer(p).masks.size();
                      return count > 1 && k < count;
                    },
                    [k](PlainSetting& s) { s.layer.masks.erase(s.layer.masks.begin() + static_cast<std::ptrdiff_t>(k)); }});
}

}  // namespace

std::vector<PlainMistake> plain_mask_mistakes() {
  std::vector<PlainMistake> list;
  add_numbers(list);
  add_shapes(list);
  add_left_out(list);
  return list;
}

}  // namespace mha::test
