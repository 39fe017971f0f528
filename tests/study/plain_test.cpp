// The plain simulations themselves: every known mistake is among them, and first shows at the step where it is made.
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "catch.hpp"
#include "study/plain_answers.hpp"
#include "study/plain_mistakes.hpp"
#include "study/random_study_problem.hpp"

namespace mha::test {
namespace {

struct FirstStep {
  std::string_view id;
  StepId step;
};

// By the list of mistakes; a variant that starts elsewhere is in expected_step.
constexpr std::array first_steps = {
    FirstStep{"weights_transposed", StepId::Q},
    FirstStep{"weights_transposed_q", StepId::Q},
    FirstStep{"weights_transposed_k", StepId::K},
    FirstStep{"weights_transposed_v", StepId::V},
    FirstStep{"bias_forgotten", StepId::Q},
    FirstStep{"bias_forgotten_q", StepId::Q},
    FirstStep{"bias_forgotten_k", StepId::K},
    FirstStep{"bias_forgotten_v", StepId::V},
    FirstStep{"swap_qk", StepId::Q},
    FirstStep{"q_from_wk", StepId::Q},
    FirstStep{"q_from_wv", StepId::Q},
    FirstStep{"k_from_wq", StepId::K},
    FirstStep{"k_from_wv", StepId::K},
    FirstStep{"v_from_wq", StepId::V},
    FirstStep{"swap_kv", StepId::K},
    FirstStep{"packed_order", StepId::Q},
    FirstStep{"packed_interleaved", StepId::Q},
    FirstStep{"v_from_wk", StepId::V},
    FirstStep{"one_projection", StepId::K},
    FirstStep{"no_projection", StepId::Q},
    FirstStep{"v_not_projected", StepId::V},
    FirstStep{"relu_projection", StepId::Q},
    FirstStep{"split_input", StepId::Q},
    FirstStep{"split_input_shared", StepId::Q},
    FirstStep{"same_weights", StepId::Q},
    FirstStep{"reshape_without_transpose", StepId::Q},
    FirstStep{"strided_heads", StepId::Q},
    FirstStep{"heads_reversed", StepId::Q},
    FirstStep{"not_split", StepId::Q},
    FirstStep{"reshape_for_transpose", StepId::scores},
    FirstStep{"scores_transposed", StepId::scores},
    FirstStep{"k_not_transposed", StepId::scores},
    FirstStep{"v_for_k", StepId::scores},
    FirstStep{"elementwise_product", StepId::scores},
    FirstStep{"no_scale", StepId::scaled},
    FirstStep{"scale_sqrt_dmodel", StepId::scaled},
    FirstStep{"scale_sqrt_all_heads", StepId::scaled},
    FirstStep{"scale_dk", StepId::scaled},
    FirstStep{"scale_multiplied", StepId::scaled},
    FirstStep{"scale_fourth_root", StepId::scaled},
    FirstStep{"scale_sqrt_heads", StepId::scaled},
    FirstStep{"scale_sqrt_n", StepId::scaled},
    FirstStep{"scale_after_softmax", StepId::scaled},
    FirstStep{"mask_ignored", StepId::masked},
    FirstStep{"mask_after_softmax", StepId::masked},
    FirstStep{"mask_multiplied", StepId::masked},
    FirstStep{"mask_fill_weak", StepId::masked},
    FirstStep{"mask_inverted", StepId::masked},
    FirstStep{"mask_added", StepId::masked},
    FirstStep{"mask_added_inverted", StepId::masked},
    FirstStep{"mask_plus_inf", StepId::masked},
    FirstStep{"mask_nan", StepId::masked},
    FirstStep{"padding_on_queries", StepId::masked},
    FirstStep{"mask_transposed", StepId::masked},
    FirstStep{"causal_strict", StepId::masked},
    FirstStep{"causal_one_ahead", StepId::masked},
    FirstStep{"causal_corner", StepId::masked},
    FirstStep{"softmax_columns", StepId::weights},
    FirstStep{"softmax_heads", StepId::weights},
    FirstStep{"softmax_all", StepId::weights},
    FirstStep{"softmax_overflow", StepId::weights},
    FirstStep{"softmax_plus_one", StepId::weights},
    FirstStep{"softmax_twice", StepId::weights},
    FirstStep{"softmax_base2", StepId::weights},
    FirstStep{"no_softmax", StepId::weights},
    FirstStep{"sum_normalised", StepId::weights},
    FirstStep{"attention_transposed", StepId::head_output},
    FirstStep{"k_for_v", StepId::head_output},
    FirstStep{"q_for_v", StepId::head_output},
    FirstStep{"weights_averaged", StepId::weights},
    FirstStep{"merge_without_transpose", StepId::concat},
    FirstStep{"concat_reversed", StepId::concat},
    FirstStep{"concat_interleaved", StepId::concat},
    FirstStep{"heads_averaged", StepId::concat},
    FirstStep{"heads_summed", StepId::concat},
    FirstStep{"heads_max", StepId::concat},
    FirstStep{"concat_rows", StepId::concat},
    FirstStep{"wo_missing", StepId::output},
    FirstStep{"wo_transposed", StepId::output},
    FirstStep{"bo_forgotten", StepId::output},
    FirstStep{"residual_added", StepId::output},
    FirstStep{"relu_output", StepId::output},
    FirstStep{"gqa_tiled", StepId::K},
    FirstStep{"gqa_wrong_divisor", StepId::K},
    FirstStep{"gqa_first_only", StepId::K},
    FirstStep{"mask_part_ignored", StepId::masked},
    FirstStep{"rope_missing", StepId::Q_rot},
    FirstStep{"rope_pairing", StepId::Q_rot},
    FirstStep{"rope_direction", StepId::Q_rot},
    FirstStep{"rope_from_one", StepId::Q_rot},
    FirstStep{"rope_on_values", StepId::head_output},
    FirstStep{"softcap_missing", StepId::capped},
    FirstStep{"softcap_after_mask", StepId::capped},
};

bool begins_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

StepId expected_step(const PlainMistake& mistake) {
  if (begins_with(mistake.detail, "columns read as Q V K")) return StepId::K;
  if (begins_with(mistake.detail, "mask as 0")) return StepId::masked;
  for (const FirstStep& row : first_steps)
    if (row.id == mistake.id) return row.step;
  FAIL("not on the list: " << mistake.id);
  return StepId::X;
}

// All heads at once show it where one head does.
StepId of_one_head(StepId step) {
  switch (step) {
    case StepId::packed_Q: return StepId::Q;
    case StepId::packed_K: return StepId::K;
    case StepId::packed_V: return StepId::V;
    case StepId::X:
    case StepId::Q:
    case StepId::K:
    case StepId::V:
    case StepId::Q_rot:
    case StepId::K_rot:
    case StepId::scores:
    case StepId::scaled:
    case StepId::capped:
    case StepId::masked:
    case StepId::weights:
    case StepId::head_output:
    case StepId::concat:
    case StepId::output: return step;
  }
  return step;
}

constexpr std::uint32_t seeds = 5;

}  // namespace

TEST_CASE("each plain mistake first shows at the step where it is made, and each shows somewhere") {
  std::set<std::string> shown;
  for (const PlainMistake& mistake : plain_mistakes())
    for (const StudyVariant& variant : study_variants)
      for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        const Problem problem = variant.draw(seed);
        if (!mistake.applies(problem)) continue;
        const auto place = first_difference(plain_right(problem, {}, mistake.empty), mistake.run(problem));
        if (!place) continue;
        CAPTURE(mistake.id, mistake.detail, variant.name, seed);
        CHECK(name_of(of_one_head(place->step)).id == name_of(expected_step(mistake)).id);
        if (mistake.id == "same_weights") CHECK((is_packed(place->step) || place->head == 1));
        shown.insert(mistake.id);
      }
  for (const FirstStep& row : first_steps) {
    CAPTURE(row.id);
    CHECK(shown.count(std::string(row.id)) == 1);
  }
}

TEST_CASE("every plain variant shows in one of the study problems") {
  for (const PlainMistake& mistake : plain_mistakes()) {
    if (mistake.empty != 0) continue;
    bool shows = false;
    for (const StudyVariant& variant : study_variants) {
      const Problem problem = variant.draw(1);
      shows = shows || (mistake.applies(problem) && first_difference(plain_right(problem), mistake.run(problem)));
    }
    CAPTURE(mistake.id, mistake.detail);
    // The transposes of single heads need d_model = d_k, and no study problem has more than two masks.
    const bool out_of_reach =
        mistake.detail == "each head's own" || mistake.detail == "without mask 3" || mistake.detail == "without mask 4";
    CHECK(shows != out_of_reach);
  }
}

TEST_CASE("the fair forms have the right weights and output wherever a row has a key") {
  for (const FairForm& form : fair_forms())
    for (const StudyVariant& variant : study_variants) {
      const Problem problem = variant.draw(2);
      // Where every weight left by the mask underflows, a renormalised row is 0/0.
      if (variant.name == "row without key" || variant.name == "large scores" || !form.applies(problem)) continue;
      CAPTURE(form.name, variant.name);
      const PlainTrace right = only(plain_right(problem), weights_and_output);
      CHECK_FALSE(first_difference(right, only(form.run(problem, {}), weights_and_output)));
    }
}

TEST_CASE("answers are written as the contract says") {
  PlainTrace trace;
  const double infinity = std::numeric_limits<double>::infinity();
  trace.steps[StepId::masked] = {PlainMatrix{1, 2, {0.5, -infinity}}, PlainMatrix{1, 2, {std::nan(""), infinity}}};
  trace.steps[StepId::output] = {PlainMatrix{2, 1, {0.25, -3}}};
  CHECK(answer_text(trace, AnswerForm::flat) == R"({"M1":[[0.5,"-inf"]],"M2":[["nan","inf"]],"Y":[[0.25],[-3.0]]})");
  CHECK(answer_text(trace) ==
        R"({"heads":[{"head":1,"masked":[[0.5,"-inf"]]},{"head":2,"masked":[["nan","inf"]]}],"output":[[0.25],[-3.0]]})");
  CHECK(answer_text(written_with(trace, 1), AnswerForm::flat) ==
        R"({"M1":[[0.5,"-inf"]],"M2":[["nan","inf"]],"Y":[[0.3],[-3.0]]})");
}

}  // namespace mha::test
