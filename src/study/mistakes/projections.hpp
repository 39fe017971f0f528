// Q, K and V alike: where their weights are, and how their heads are cut from the columns of all heads.
#pragma once

#include "study/mistakes/plan_editor.hpp"

namespace mha::study {

struct Projection {
  StepId id;
  StepId packed;
  Linear Problem::*linear;
  Index Problem::*heads;
};
inline constexpr std::array projections = {
    Projection{StepId::Q, StepId::packed_Q, &Problem::Q, &Problem::heads},
    Projection{StepId::K, StepId::packed_K, &Problem::K, &Problem::kv_heads},
    Projection{StepId::V, StepId::packed_V, &Problem::V, &Problem::kv_heads},
};
inline constexpr const Projection& Q_projection = projections[0];
inline constexpr const Projection& K_projection = projections[1];
inline constexpr const Projection& V_projection = projections[2];

// The step in which X meets the weights.
StepId product_of(const Projection& projection, const Problem& problem);

// The weights as X·W reads them, and the bias, of all heads side by side: rows×(heads·d), 1×(heads·d).
Tensor weights_of(const Projection& projection, const Problem& problem);
std::optional<Tensor> bias_of(const Projection& projection, const Problem& problem);

// Lets the projection use other weights, or another bias, given for all heads side by side.
void set_weights(PlanEditor& edit, const Problem& problem, const Projection& projection, const Tensor& W);
void set_bias(PlanEditor& edit, const Problem& problem, const Projection& projection, const Tensor& b);

// Q, K or V made by `how` (its id left open) from the columns of all heads side by side, n×(heads·d).
void make_heads(PlanEditor& edit, const Problem& problem, const Projection& projection, Step how);

// These columns of a matrix, in this order.
Tensor columns(const Tensor& matrix, const std::vector<Index>& chosen);

}  // namespace mha::study
