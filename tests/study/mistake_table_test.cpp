// The list of mistakes: every id with the first step that shows it and how often it is made.
#include <set>

#include "catch.hpp"
#include "study/mistake_problem.hpp"

namespace mha::test {
namespace {

struct Row {
  std::string_view id;
  StepId first;
  char frequency;
};

constexpr std::array expected = {
    Row{"weights_transposed", StepId::Q, 'A'},
    Row{"weights_transposed_q", StepId::Q, 'C'},
    Row{"weights_transposed_k", StepId::K, 'C'},
    Row{"weights_transposed_v", StepId::V, 'C'},
    Row{"bias_forgotten", StepId::Q, 'B'},
    Row{"bias_forgotten_q", StepId::Q, 'B'},
    Row{"bias_forgotten_k", StepId::K, 'B'},
    Row{"bias_forgotten_v", StepId::V, 'B'},
    Row{"swap_qk", StepId::Q, 'C'},
    Row{"q_from_wk", StepId::Q, 'B'},
    Row{"q_from_wv", StepId::Q, 'B'},
    Row{"k_from_wq", StepId::K, 'B'},
    Row{"k_from_wv", StepId::K, 'B'},
    Row{"v_from_wq", StepId::V, 'B'},
    Row{"swap_kv", StepId::K, 'B'},
    Row{"cross_kv_from_x", StepId::K, 'A'},
    Row{"cross_swapped", StepId::Q, 'B'},
    Row{"packed_order", StepId::Q, 'B'},
    Row{"packed_interleaved", StepId::Q, 'B'},
    Row{"v_from_wk", StepId::V, 'C'},
    Row{"one_projection", StepId::K, 'B'},
    Row{"no_projection", StepId::Q, 'C'},
    Row{"v_not_projected", StepId::V, 'C'},
    Row{"relu_projection", StepId::Q, 'B'},
    Row{"split_input", StepId::Q, 'A'},
    Row{"split_input_shared", StepId::Q, 'C'},
    Row{"same_weights", StepId::Q, 'C'},
    Row{"reshape_without_transpose", StepId::Q, 'A'},
    Row{"strided_heads", StepId::Q, 'C'},
    Row{"heads_reversed", StepId::Q, 'C'},
    Row{"not_split", StepId::Q, 'C'},
    Row{"reshape_for_transpose", StepId::scores, 'C'},
    Row{"scores_transposed", StepId::scores, 'C'},
    Row{"k_not_transposed", StepId::scores, 'C'},
    Row{"v_for_k", StepId::scores, 'C'},
    Row{"elementwise_product", StepId::scores, 'C'},
    Row{"no_scale", StepId::scaled, 'B'},
    Row{"scale_sqrt_dmodel", StepId::scaled, 'A'},
    Row{"scale_sqrt_all_heads", StepId::scaled, 'B'},
    Row{"scale_dk", StepId::scaled, 'B'},
    Row{"scale_multiplied", StepId::scaled, 'C'},
    Row{"scale_fourth_root", StepId::scaled, 'C'},
    Row{"scale_sqrt_heads", StepId::scaled, 'C'},
    Row{"scale_sqrt_n", StepId::scaled, 'C'},
    Row{"scale_after_softmax", StepId::scaled, 'C'},
    Row{"mask_ignored", StepId::masked, 'B'},
    Row{"mask_after_softmax", StepId::masked, 'B'},
    Row{"mask_multiplied", StepId::masked, 'B'},
    Row{"mask_fill_weak", StepId::masked, 'B'},
    Row{"mask_inverted", StepId::masked, 'A'},
    Row{"mask_added", StepId::masked, 'A'},
    Row{"mask_added_inverted", StepId::masked, 'A'},
    Row{"mask_plus_inf", StepId::masked, 'C'},
    Row{"mask_nan", StepId::masked, 'C'},
    Row{"padding_on_queries", StepId::masked, 'B'},
    Row{"mask_transposed", StepId::masked, 'C'},
    Row{"padding_other_item", StepId::masked, 'B'},
    Row{"window_off_by_one", StepId::masked, 'A'},
    Row{"alibi_slopes", StepId::masked, 'B'},
    Row{"causal_strict", StepId::masked, 'B'},
    Row{"causal_one_ahead", StepId::masked, 'B'},
    Row{"causal_corner", StepId::masked, 'A'},
    Row{"softmax_columns", StepId::weights, 'A'},
    Row{"softmax_heads", StepId::weights, 'C'},
    Row{"softmax_all", StepId::weights, 'C'},
    Row{"batch_softmax", StepId::weights, 'C'},
    Row{"softmax_overflow", StepId::weights, 'A'},
    Row{"dropout", StepId::weights, 'B'},
    Row{"softmax_plus_one", StepId::weights, 'B'},
    Row{"softmax_twice", StepId::weights, 'B'},
    Row{"softmax_base2", StepId::weights, 'C'},
    Row{"no_softmax", StepId::weights, 'C'},
    Row{"sum_normalised", StepId::weights, 'C'},
    Row{"attention_transposed", StepId::head_output, 'C'},
    Row{"k_for_v", StepId::head_output, 'B'},
    Row{"q_for_v", StepId::head_output, 'B'},
    Row{"weights_averaged", StepId::weights, 'B'},
    Row{"merge_without_transpose", StepId::concat, 'A'},
    Row{"concat_reversed", StepId::concat, 'C'},
    Row{"concat_interleaved", StepId::concat, 'C'},
    Row{"heads_averaged", StepId::concat, 'B'},
    Row{"heads_summed", StepId::concat, 'B'},
    Row{"heads_max", StepId::concat, 'B'},
    Row{"concat_rows", StepId::concat, 'B'},
    Row{"wo_missing", StepId::output, 'A'},
    Row{"wo_transposed", StepId::output, 'C'},
    Row{"bo_forgotten", StepId::output, 'C'},
    Row{"residual_added", StepId::output, 'C'},
    Row{"relu_output", StepId::output, 'C'},
    Row{"gqa_tiled", StepId::K, 'B'},
    Row{"gqa_wrong_divisor", StepId::K, 'C'},
    Row{"gqa_first_only", StepId::K, 'C'},
    Row{"mask_part_ignored", StepId::masked, 'B'},
    Row{"rope_missing", StepId::Q_rot, 'B'},
    Row{"rope_pairing", StepId::Q_rot, 'A'},
    Row{"rope_direction", StepId::Q_rot, 'C'},
    Row{"rope_from_one", StepId::Q_rot, 'C'},
    Row{"rope_on_q_only", StepId::K_rot, 'C'},
    Row{"rope_base", StepId::Q_rot, 'B'},
    Row{"rope_along_heads", StepId::Q_rot, 'B'},
    Row{"rope_on_values", StepId::head_output, 'C'},
    Row{"softcap_missing", StepId::capped, 'B'},
    Row{"softcap_after_mask", StepId::capped, 'B'},
};

}  // namespace

TEST_CASE("the list holds every mistake once, with its first step and frequency", "[mistakes]") {
  CHECK(mistakes().size() == expected.size());
  for (const Row& row : expected) {
    CAPTURE(row.id);
    const Mistake* found = find_mistake(row.id);
    REQUIRE(found != nullptr);
    CHECK(found->id == row.id);
    CHECK(name_of(found->first).id == name_of(row.first).id);
    CHECK(found->frequency == row.frequency);
  }
  CHECK(find_mistake("no_such_mistake") == nullptr);
}

TEST_CASE("every mistake says in both languages what was done, and no two say the same", "[mistakes]") {
  std::set<std::string_view> en, zh;
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.id);
    CHECK(mistake.what.en.find(": ") != std::string_view::npos);  // what was done: the remedy
    CHECK(mistake.what.zh.find("：") != std::string_view::npos);
    CHECK(en.insert(mistake.what.en).second);
    CHECK(zh.insert(mistake.what.zh).second);
  }
}

TEST_CASE("within a row of the computation the mistakes follow one another", "[mistakes]") {
  // All that first show in a step before the scores come before all that first show behind the softmax, and so on.
  const auto place = [](std::string_view id) {
    return std::find_if(mistakes().begin(), mistakes().end(), [&](const Mistake& m) { return m.id == id; }) -
           mistakes().begin();
  };
  const std::array order = {"weights_transposed",
                            "split_input",
                            "gqa_tiled",
                            "rope_missing",
                            "scores_transposed",
                            "no_scale",
                            "softcap_missing",
                            "mask_ignored",
                            "softmax_columns",
                            "attention_transposed",
                            "merge_without_transpose",
                            "wo_missing"};
  for (std::size_t i = 1; i < order.size(); ++i) CHECK(place(order[i - 1]) < place(order[i]));
}

}  // namespace mha::test
