// Mistakes from the scores to what the mask gets: the product, the scale, the softcap.
#include <cmath>

#include "study/plain_conditions.hpp"
#include "study/plain_mistakes.hpp"

namespace mha::test {
namespace {

void add_products(std::vector<PlainMistake>& list) {
  const auto add = [&list](const char* id, bool (*applies)(const Problem&), PlainMatrix (*score)(const PlainHead&)) {
    list.push_back({id, "", applies, [score](PlainSetting& s) { s.score = score; }});
  };
  add("reshape_for_transpose", always,
      [](const PlainHead& head) { return times(head.Q, reread(head.K, head.K.cols, head.K.rows)); });
  add("scores_transposed", has_square_scores, [](const PlainHead& head) { return times(head.K, transposed(head.Q)); });
  add(
      "k_not_transposed", [](const Problem& p) { return p.keys() == p.d_k(); },
      [](const PlainHead& head) { return times(head.Q, head.K); });
  add("v_for_k", values_as_wide_as_keys, [](const PlainHead& head) { return times(head.Q, transposed(head.V)); });
  add(
      "elementwise_product", [](const Problem& p) { return has_square_scores(p) && p.keys() == p.d_k(); },
      [](const PlainHead& head) {
        return build(head.Q.rows, head.Q.cols, [&](Index i, Index j) { return head.Q.at(i, j) * head.K.at(i, j); });
      });
}

void add_scales(std::vector<PlainMistake>& list) {
  const auto add = [&list](const char* id, double (*factor)(const PlainLayer&)) {
    list.push_back({id, "", is_scaled, [factor](PlainSetting& s) { s.layer.scale = factor(s.layer); }});
  };
  add("no_scale", [](const PlainLayer&) { return 1.0; });
  add("scale_sqrt_dmodel", [](const PlainLayer& L) { return 1 / std::sqrt(static_cast<double>(L.X.cols)); });
  list.push_back({"scale_sqrt_all_heads", "",
                  [](const Problem& p) { return is_scaled(p) && p.heads * p.d_k() != p.d_model(); }, [](PlainSetting& s) {
                    s.layer.scale = 1 / std::sqrt(static_cast<double>(s.layer.heads() * s.layer.d_k()));
                  }});
  add("scale_dk", [](const PlainLayer& L) { return 1 / static_cast<double>(L.d_k()); });
  add("scale_multiplied", [](const PlainLayer& L) { return std::sqrt(static_cast<double>(L.d_k())); });
  add("scale_fourth_root", [](const PlainLayer& L) { return std::pow(static_cast<double>(L.d_k()), -0.25); });
  add("scale_sqrt_heads", [](const PlainLayer& L) { return 1 / std::sqrt(static_cast<double>(L.heads())); });
  add("scale_sqrt_n", [](const PlainLayer& L) { return 1 / std::sqrt(static_cast<double>(L.X.rows)); });
  list.push_back({"scale_after_softmax", "", is_scaled, [](PlainSetting& s) {
                    s.finish_weights = [scale = *s.layer.scale](const PlainHeads& weights, const PlainHeads&) {
                      return each_head(weights, [&](const PlainMatrix& head) {
                        return each_entry(head, [&](double weight) { return weight * scale; });
                      });
                    };
                    s.layer.scale = 1;
                  }});
}

void add_softcaps(std::vector<PlainMistake>& list) {
  list.push_back({"softcap_missing", "", [](const Problem& p) { return p.softcap.has_value(); },
                  [](PlainSetting& s) { s.capped = [](double z, double) { return z; }; }});
  list.push_back({"softcap_after_mask", "",
                  [](const Problem& p) { return p.softcap.has_value() && !plain_layer(p).masks.empty(); },
                  [](PlainSetting& s) { s.cap_after_mask = true; }});
}

}  // namespace

std::vector<PlainMistake> plain_score_mistakes() {
  std::vector<PlainMistake> list;
  add_products(list);
  add_scales(list);
  add_softcaps(list);
  return list;
}

}  // namespace mha::test
