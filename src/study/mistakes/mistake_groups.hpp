// The groups in which the mistakes are written down, one file each, and what they share.
#pragma once

#include "study/mistakes/mistake.hpp"
#include "study/mistakes/plan_editor.hpp"

namespace mha::study {

std::span<const Mistake> projection_mistakes();
std::span<const Mistake> split_mistakes();
std::span<const Mistake> grouped_mistakes();
std::span<const Mistake> rope_mistakes();
std::span<const Mistake> score_mistakes();
std::span<const Mistake> scale_mistakes();
std::span<const Mistake> softcap_mistakes();
std::span<const Mistake> mask_mistakes();
std::span<const Mistake> softmax_mistakes();
std::span<const Mistake> head_mistakes();
std::span<const Mistake> merge_mistakes();
std::span<const Mistake> output_mistakes();

// The edited plan as one more form, where its shapes fit.
inline void add_form(Variants& variants, PlanEditor&& edit, std::string detail = {}) {
  if (std::optional<Plan> plan = std::move(edit).finish()) variants.push_back({std::move(*plan), std::move(detail)});
}

// The edited plan as the only form.
inline Variants only_form(PlanEditor&& edit) {
  Variants variants;
  add_form(variants, std::move(edit));
  return variants;
}

}  // namespace mha::study
