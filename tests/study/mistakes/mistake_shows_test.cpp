// Which mistakes a problem can show, at which step, and what an input can hide.
#include <set>

#include "catch.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
namespace {

using Ids = std::vector<std::string_view>;

bool is_of_block(const Mistake& mistake) {
  return mistake.first == StepId::norm || mistake.first > StepId::output || mistake.id == "residual_before_projection";
}

// Every mistake that can be made on the problem and shows itself first shows at the step of its row; those whose first
// step depends on what is given are left to their own tests.
void check_first_steps(const Problem& problem, const Ids& expected_absent) {
  std::set<std::string_view> absent;
  const bool has_mask = !problem.masks.empty();
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.id);
    const std::optional<StepId> shown = shown_first(problem, mistake);
    if (!shown && !problem.residual && is_of_block(mistake)) continue;
    if (!shown) {
      absent.insert(mistake.id);
      continue;
    }
    StepId first = mistake.first;
    if (has_mask && (mistake.id == "no_softmax" || mistake.id == "sum_normalised")) first = StepId::masked;
    if (mistake.id == "rope_on_values") first = StepId::V;  // where that is given as it was turned
    const bool in_packed_product = is_packed(*shown) && first >= StepId::Q && first <= StepId::V;
    if (!in_packed_product) CHECK(name_of(*shown).id == name_of(first).id);
  }
  CHECK(absent == std::set<std::string_view>(expected_absent.begin(), expected_absent.end()));
}

const Ids not_in_plain_problems = {
    "packed_order",       "packed_interleaved",  "gqa_tiled",        "gqa_wrong_divisor",    "gqa_first_only",
    "rope_missing",       "rope_pairing",        "rope_direction",   "rope_from_one",        "rope_on_values",
    "k_not_transposed",   "elementwise_product", "softcap_missing",  "softcap_after_mask",   "mask_part_ignored",
    "padding_on_queries", "causal_corner",       "softmax_overflow", "cross_kv_from_x",      "cross_swapped",
    "rope_on_q_only",     "rope_base",           "rope_along_heads", "scale_sqrt_all_heads", "window_off_by_one",
    "padding_other_item", "alibi_slopes",        "batch_softmax",    "rope_restarted",       "layer_reads_x"};

Ids without(Ids ids, const Ids& removed) {
  for (const std::string_view id : removed) ids.erase(std::find(ids.begin(), ids.end(), id));
  return ids;
}

void check_hidden(const Problem& problem, const Ids& ids) {
  for (const std::string_view id : ids) {
    CAPTURE(id);
    CHECK_FALSE(shows(problem, id));
  }
}

void check_shown(const Problem& problem, const Ids& ids) {
  for (const std::string_view id : ids) {
    CAPTURE(id);
    CHECK(shows(problem, id));
  }
}

// 3 tokens, d_model 4, h = d_k = 2, no biases: the worked example's sizes, with other numbers.
Problem toy() {
  Sizes s;
  s.tokens = s.keys = 3;
  s.d_model = 4;
  s.heads = s.kv_heads = s.d_k = s.d_v = 2;
  s.d_out = 4;
  Problem p = standard_problem(2, s);
  for (Linear* linear : {&p.Q, &p.K, &p.V, &p.O}) linear->b.reset();
  p.masks.clear();
  return p;
}

}  // namespace

TEST_CASE("on the standard problem each mistake first shows at its step", "[mistakes]") {
  check_first_steps(standard_problem(), not_in_plain_problems);
  check_first_steps(torch_form(standard_problem()), not_in_plain_problems);
  check_first_steps(packed_form(standard_problem()), not_in_plain_problems);
  check_first_steps(packed_form(standard_problem(), true),
                    without(not_in_plain_problems, {"packed_order", "packed_interleaved"}));
}

TEST_CASE("in a batch, with rope, soft cap and padding beside causal, too", "[mistakes]") {
  Sizes s = standard_sizes();
  s.batch = 2;
  s.d_k = s.d_v = 4;
  Problem p = standard_problem(3, s);
  p.rope = Rope{};
  p.rope->dims = 4;
  p.softcap = 2;
  p.masks.push_back(padding_mask({1, 1, 0, 1, 0}));
  // D is 12 and d_model 6, so W is not square and X is no substitute for Q.
  check_first_steps(p, {"packed_order",         "packed_interleaved",   "gqa_tiled",
                        "gqa_wrong_divisor",    "gqa_first_only",       "weights_transposed",
                        "weights_transposed_q", "weights_transposed_k", "weights_transposed_v",
                        "no_projection",        "v_not_projected",      "wo_transposed",
                        "k_not_transposed",     "elementwise_product",  "causal_corner",
                        "softmax_overflow",     "cross_kv_from_x",      "cross_swapped",
                        "window_off_by_one",    "padding_other_item",   "alibi_slopes",
                        "layer_reads_x"});
}

TEST_CASE("however the weights are stored, a mistake gives the same numbers", "[mistakes]") {
  Sizes grouped = standard_sizes();
  grouped.heads = 6;
  grouped.kv_heads = 2;
  for (const Problem& p : {standard_problem(), standard_problem(4, grouped)})
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.id);
      const std::vector<Written> per_head = results(p, mistake.id);
      for (const Problem& stored : {packed_form(p), torch_form(p), torch_form(packed_form(p))}) {
        const std::vector<Written> other = results(stored, mistake.id);
        REQUIRE(other.size() == per_head.size());
        for (std::size_t form = 0; form < other.size(); ++form)
          for (const StepName& name : step_names)
            if (name.step >= StepId::Q && per_head[form][static_cast<std::size_t>(name.step)])
              CHECK(distance(get(other[form], name.step), get(per_head[form], name.step)) < 1e-12);
      }
    }
}

TEST_CASE("every mistake that applies can be made, whatever else the problem has", "[mistakes]") {
  for (const bool grouped : {false, true})
    for (const bool is_packed : {false, true})
      for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
        Sizes s = standard_sizes();
        s.heads = 4;
        s.kv_heads = grouped ? 2 : 4;
        Problem p = standard_problem(9, s);
        p.rope = Rope{};
        p.rope->dims = p.d_k() / 2 * 2;
        p.rope->pairing = pairing;
        p.softcap = 5;
        if (is_packed) p = packed_form(p);
        const std::vector<Outcome> all = outcomes(p, 1e-9);
        const auto has = [&](std::string_view id) {
          return std::any_of(all.begin(), all.end(), [&](const Outcome& outcome) { return outcome.mistake->id == id; });
        };
        CHECK(has("rope_missing"));
        CHECK(has("softcap_missing"));
      }
}

TEST_CASE("grouped heads and cross-attention show their mistakes", "[mistakes]") {
  Sizes s = standard_sizes();
  s.heads = 6;
  s.kv_heads = 2;
  for (const bool packed : {false, true}) {
    const Problem grouped = packed ? packed_form(standard_problem(4, s)) : standard_problem(4, s);
    for (const std::string_view id : {"gqa_tiled", "gqa_wrong_divisor", "gqa_first_only"})
      CHECK(shown_first(grouped, mistake(id)) == StepId::K);
    CHECK(mistake("swap_qk").variants(grouped).empty());
    CHECK(mistake("one_projection").variants(grouped).empty());
    CHECK(mistake("not_split").variants(grouped).empty());
    check_shown(grouped, {"reshape_without_transpose", "same_weights", "k_for_v", "weights_averaged", "scores_transposed"});
  }
  Sizes c = standard_sizes();
  c.cross = true;
  c.keys = 2;
  Problem cross = standard_problem(5, c);
  check_shown(cross, {"causal_corner", "k_not_transposed", "k_for_v", "swap_qk", "no_projection", "split_input"});
  for (const std::string_view id : {"scores_transposed", "attention_transposed", "q_for_v"})
    CHECK(mistake(id).variants(cross).empty());
  c.d_kv = 4;
  cross = standard_problem(5, c);
  for (const std::string_view id : {"swap_qk", "one_projection", "no_projection", "split_input"})
    CHECK(mistake(id).variants(cross).empty());
}

TEST_CASE("h = d_k makes √d_model and d_k the same number", "[mistakes]") {
  const std::set<std::set<std::string_view>> same = groups(toy(), StepId::X);
  CHECK(same.count({"scale_sqrt_dmodel", "scale_dk"}) == 1);
  check_hidden(toy(), {"scale_sqrt_heads"});
}

TEST_CASE("what the standard problem cannot tell apart", "[mistakes]") {
  using Groups = std::set<std::set<std::string_view>>;
  const Problem p = standard_problem();
  CHECK(groups(p, StepId::X) == Groups{{"mask_multiplied", "mask_fill_weak"}});
  CHECK(groups(p, StepId::output) == Groups{{"swap_qk", "scores_transposed"},
                                            {"v_from_wk", "k_for_v"},
                                            {"v_for_k", "k_from_wv"},
                                            {"q_for_v", "v_from_wq"},
                                            {"heads_reversed", "concat_reversed"},
                                            {"mask_multiplied", "mask_fill_weak"}});
}

TEST_CASE("one head hides every split, concat and shared-weight mistake", "[mistakes]") {
  Sizes s = standard_sizes();
  s.heads = s.kv_heads = 1;
  s.d_k = s.d_v = 6;
  check_hidden(standard_problem(6, s),
               {"split_input", "split_input_shared", "same_weights", "reshape_without_transpose", "strided_heads",
                "heads_reversed", "not_split", "merge_without_transpose", "concat_reversed", "concat_interleaved",
                "heads_averaged", "heads_summed", "heads_max", "concat_rows", "weights_averaged", "scale_sqrt_dmodel"});
}

TEST_CASE("d_k = 1 hides the scale", "[mistakes]") {
  Sizes s = standard_sizes();
  s.d_k = 1;
  check_hidden(standard_problem(7, s), {"no_scale", "scale_dk", "scale_multiplied", "scale_fourth_root",
                                        "scale_after_softmax", "reshape_for_transpose"});
}

TEST_CASE("a single token hides masks and what softmax does", "[mistakes]") {
  Sizes s = standard_sizes();
  s.tokens = s.keys = 1;
  check_hidden(standard_problem(8, s), {"mask_ignored", "mask_multiplied", "mask_after_softmax", "mask_inverted",
                                        "mask_fill_weak", "mask_transposed", "causal_one_ahead", "softmax_columns",
                                        "softmax_all", "softmax_twice", "softmax_base2", "attention_transposed"});
}

TEST_CASE("symmetric weights hide transposes, W_Q = W_K hides exchanging them", "[mistakes]") {
  Problem p = packed_form(standard_problem());
  for (Linear* linear : {&p.Q, &p.K, &p.V, &p.O})
    for (Index r = 0; r < 6; ++r)
      for (Index c = 0; c < r; ++c) linear->W.at(0, 0, r, c) = linear->W.at(0, 0, c, r);
  check_hidden(
      p, {"weights_transposed", "weights_transposed_q", "weights_transposed_k", "weights_transposed_v", "wo_transposed"});
  p.K = p.Q;
  check_hidden(p, {"swap_qk", "scores_transposed"});
}

TEST_CASE("g = h/g hides the wrong divisor, a single group every wrong one", "[mistakes]") {
  Sizes s = standard_sizes();
  s.heads = 4;
  s.kv_heads = 2;
  check_hidden(standard_problem(9, s), {"gqa_wrong_divisor"});
  check_shown(standard_problem(9, s), {"gqa_tiled", "gqa_first_only"});
  s.kv_heads = 1;
  check_hidden(standard_problem(9, s), {"gqa_wrong_divisor", "gqa_tiled", "gqa_first_only"});
}

TEST_CASE("a forgotten b_K never reaches the weights", "[mistakes]") {
  const Problem p = standard_problem();
  const Written right = right_result(p), wrong = results(p, "bias_forgotten_k").front();
  for (const StepId step : {StepId::K, StepId::scores, StepId::scaled})
    CHECK(distance(get(wrong, step), get(right, step)) > 1e-3);
  for (const StepId step : {StepId::weights, StepId::output}) CHECK(distance(get(wrong, step), get(right, step)) < 1e-12);
}

TEST_CASE("positions counted from one show in Q_rot and K_rot, never in the scores", "[mistakes]") {
  Sizes s = standard_sizes();
  s.d_k = 4;
  Problem p = standard_problem(10, s);
  p.rope = Rope{};
  p.rope->dims = 4;
  const Written right = right_result(p), wrong = results(p, "rope_from_one").front();
  for (const StepId step : {StepId::Q_rot, StepId::K_rot}) CHECK(distance(get(wrong, step), get(right, step)) > 1e-3);
  for (const StepId step : {StepId::scores, StepId::output}) CHECK(distance(get(wrong, step), get(right, step)) < 1e-12);
}

TEST_CASE("a row without a key alone shows no mistake", "[mistakes]") {
  Sizes s = standard_sizes();
  s.d_k = 1;
  Problem p = standard_problem(11, s);
  p.masks.push_back(padding_mask({0, 1, 1, 1, 1}));  // query 1 may see key 1 only, which is padding
  CHECK(right_forms(p).size() == 2);
  CHECK(mistake("no_scale").variants(p).size() == 2);
  check_hidden(p, {"no_scale", "softmax_overflow"});
}

TEST_CASE("large scores show the overflow", "[mistakes]") {
  Problem p = standard_problem();
  p.scale.kind = Scale::Kind::number;
  p.scale.number = 1e4;
  CHECK(shown_first(p, mistake("softmax_overflow")) == StepId::weights);
}

}  // namespace mha::test
