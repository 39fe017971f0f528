// How values, entries, formulas and shapes are written; all of it follows from the plan.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// The place at which the own matrix of a value, from 0, is found: the first query head that it serves. And the way back.
Place place_of_head(const Scene& scene, ValueId id, Index item, Index own);
Index own_head(const Scene& scene, ValueId id, Index head);

// "¹²"
std::string superscript(Index number);

// "⁽¹⁾", or "⁽ᵏᵛ¹⁾" for what a group of query heads shares; empty for what belongs to all heads.
std::string head_mark(const Scene& scene, const Value& value, Index head);

// "scores" for "Scores", but "MLP": titles stand within sentences here.
std::string within(const Text& title, Language language);
// "Scores", "Gradient of the scores", "Gradient of W_Q".
std::string title(StepId step, Language language);
// "A⁽¹⁾": a step's symbol with the number of a head as it is written.
std::string symbol(StepId step, std::optional<Index> number);

// "X₀", "X₁": what a layer of a stack reads, and what it gives.
std::string input_symbol(const Scene& scene);
std::string result_symbol(const Scene& scene);

// "layer", "rms"
std::string norm_name(Norm::Kind kind);

// "W_Q⁽¹⁾", "K⁽¹⁾ᵀ"; X₁ in the layer that reads it.
std::string symbol(const Scene& scene, ValueId id, Place place, bool transposed = false);

// "Q⁽¹⁾[1,2]"; "b_Q⁽¹⁾[2]" of one row for all; a constant that is one number has its symbol alone.
std::string entry(const Scene& scene, ValueId id, Place place, EntryAt at);

// In a stack with its layer, "layer2.A⁽¹⁾[1,2]": where entries of several layers stand together.
std::string full_entry(const Scene& scene, ValueId id, Place place, EntryAt at);

// The matrix as one types it, "A1", in a stack "layer2.A1" and in a batch "item1.A1": what entries are found by.
std::string typed_name(const Scene& scene, ValueId id, Place place, std::optional<std::size_t> part = {});

// "step2.", "step2.cache.": of what this step of decoding, or the one meant by `part`, has for itself.
std::string part_name(const Scene& scene, ValueId id, std::optional<std::size_t> part = {});

// What the cells of a sheet with its numbers are called, "A1_weights", "layer2.Y", "W_Q1", always counted from 1; empty for
// masks, constants, gradients and what belongs to an item of a batch.
std::string cells_name_of(const Scene& scene, ValueId id, Place place);

// "A1", "layer2_A1", "Q_rot1", "gamma_mlp" for what is typed A1, layer2.A1, Q̃1, γ′.
std::string numpy_name(std::string typed);

// What stands between this operand, not the first, and the one before it: "·", "∘", "+".
std::string sign_before(const Step& step, std::size_t operand);
// "→" where a function of rows stands before it, else "=".
std::string sign_before_result(const Step& step);

// "causal", "因果掩码"
std::string masks_text(const Problem& problem, Language language);  // "masks causal shifted by 1 + padding", "no mask"
std::string mask_title(Mask::Kind kind, Language language);

// How one number scales a matrix: divided by √d_k as the paper has it, or multiplied by a scale of the problem's own.
struct Scaling {
  std::string_view sign;     // "/", "×"
  std::string name, number;  // "√d_k", "√2"; "scale", "0.125"
};
// Nothing where the step is no such product.
std::optional<Scaling> scaling_of(const Scene& scene, const Step& step);

// "Q⁽¹⁾ = X · W_Q⁽¹⁾ + b_Q⁽¹⁾"
std::string formula(const Scene& scene, const Step& step, Place place);

// What the problem says of the op, as a fact of the page: "mask: causal". Empty where it says nothing.
std::string rule_text(const Scene& scene, Op op);

// "3×4 · 4×2 → 3×2"
std::string shape_arithmetic(const Scene& scene, const Step& step);

// The columns of the packed product that a split gives to this head: "1–4".
std::string split_columns(const Scene& scene, const Step& step, Index head);

// The key/value head that a query head uses.
Index kv_head(const Problem& problem, Index head);

}  // namespace mha::show
