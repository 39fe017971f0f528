// Problems for the tests of check, drawn at random, the same on every platform; between them they admit every mistake.
#pragma once

#include "folders.hpp"

#include <array>
#include <string_view>

#include "compute/random_problem.hpp"

namespace mha::test {

// Small decimals: whole numbers of tenths up to this many.
inline Tensor tenths(Dice& dice, Shape shape, Index most) {
  Tensor result(shape);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<double>(dice.whole(-most, most)) / 10;
  return result;
}

inline Tensor integers(Dice& dice, Shape shape, Index least, Index most) {
  Tensor result(shape);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<double>(dice.whole(least, most));
  return result;
}

inline Mask study_window(Index left, Index right) {
  Mask mask;
  mask.kind = Mask::Kind::window;
  mask.short_form = false;
  mask.left = left;
  mask.right = right;
  return mask;
}

// 1 for a real token, one number for each key.
inline Mask study_padding(std::initializer_list<double> real) {
  Tensor matrix({1, 1, 1, static_cast<Index>(real.size())});
  std::copy(real.begin(), real.end(), matrix.data());
  Mask mask = matrix_mask(Mask::Kind::padding, std::move(matrix));
  mask.matrix_axes = 1;
  return mask;
}

inline Mask plain_causal_mask() {
  Mask mask;
  mask.kind = Mask::Kind::causal;
  return mask;
}

struct StudySizes {
  Index tokens = 5, keys = 5, d_model = 6, d_kv = 6, heads = 3, kv_heads = 3, d_k = 2;
  bool cross = false, packed = false;
};

// Biases everywhere, no mask; d_v = d_k and d_out = d_model, so that most mistakes keep the shapes.
inline Problem study_layer(std::uint32_t seed, const StudySizes& s) {
  Dice dice(seed);
  Problem p;
  p.heads = s.heads;
  p.kv_heads = s.kv_heads;
  p.grouped = s.heads != s.kv_heads;
  p.packed = s.packed;
  p.X = tenths(dice, {1, 1, s.tokens, s.d_model}, 15);
  if (s.cross) p.X_kv = tenths(dice, {1, 1, s.keys, s.d_kv}, 15);
  const auto linear = [&](Index inputs, Index heads) {
    const Shape W = s.packed ? Shape{1, 1, inputs, heads * s.d_k} : Shape{1, heads, inputs, s.d_k};
    return Linear{tenths(dice, W, 10), tenths(dice, {1, W.heads, 1, W.cols}, 10)};
  };
  p.Q = linear(s.d_model, s.heads);
  p.K = linear(s.cross ? s.d_kv : s.d_model, s.kv_heads);
  p.V = linear(s.cross ? s.d_kv : s.d_model, s.kv_heads);
  p.O = {tenths(dice, {1, 1, s.heads * s.d_k, s.d_model}, 10), tenths(dice, {1, 1, 1, s.d_model}, 10)};
  return p;
}

inline Problem causal_layer(std::uint32_t seed, const StudySizes& sizes) {
  Problem p = study_layer(seed, sizes);
  p.masks = {plain_causal_mask()};
  return p;
}

// n 5, d_model 6, h 3, biases, causal, unsymmetric: separates all that can be separated.
inline Problem study_problem(std::uint32_t seed) {
  return causal_layer(seed, {});
}

inline Problem unmasked_problem(std::uint32_t seed) {
  return study_layer(seed, {});
}

inline Problem packed_problem(std::uint32_t seed) {
  StudySizes sizes;
  sizes.packed = true;
  return causal_layer(seed, sizes);
}

inline Problem fused_problem(std::uint32_t seed) {
  Problem p = packed_problem(seed);
  p.fused = true;
  return p;
}

inline Problem grouped_problem(std::uint32_t seed) {
  StudySizes sizes;
  sizes.heads = 6;
  sizes.kv_heads = 2;
  return causal_layer(seed, sizes);
}

inline Problem rope_problem(std::uint32_t seed, Pairing pairing) {
  StudySizes sizes;
  sizes.d_k = 4;
  sizes.heads = 2;
  sizes.kv_heads = 2;
  sizes.d_model = 8;
  Problem p = causal_layer(seed, sizes);
  p.rope = Rope{};
  p.rope->base = 100;
  p.rope->pairing = pairing;
  p.rope->dims = 4;
  return p;
}
inline Problem rope_half_problem(std::uint32_t seed) {
  return rope_problem(seed, Pairing::half);
}
inline Problem rope_interleaved_problem(std::uint32_t seed) {
  return rope_problem(seed, Pairing::interleaved);
}

inline Problem softcap_problem(std::uint32_t seed) {
  Problem p = study_problem(seed);
  p.softcap = 2;
  return p;
}

inline Problem own_scale_problem(std::uint32_t seed) {
  Problem p = study_problem(seed);
  p.scale = {Scale::Kind::number, 0.3};
  return p;
}

inline Problem causal_padding_problem(std::uint32_t seed) {
  Problem p = study_problem(seed);
  p.masks.push_back(study_padding({1, 1, 0, 1, 1}));
  p.mask_is_list = true;
  return p;
}

inline Problem window_padding_problem(std::uint32_t seed) {
  Problem p = study_layer(seed, {});
  p.masks = {study_window(2, 1), study_padding({1, 1, 1, 1, 0})};
  p.mask_is_list = true;
  return p;
}

// The first query may attend to no key.
inline Problem row_without_key_problem(std::uint32_t seed) {
  Problem p = study_problem(seed);
  p.masks.push_back(study_padding({0, 1, 1, 1, 1}));
  p.mask_is_list = true;
  return p;
}

inline Problem cross_problem(std::uint32_t seed) {
  StudySizes sizes;
  sizes.cross = true;
  sizes.tokens = 2;
  sizes.keys = 4;
  sizes.d_kv = 4;
  Problem p = study_layer(seed, sizes);
  p.masks = {causal_mask(Align::Kind::bottom_right)};
  return p;
}

// n = d_k, so that Q·K and Q∘K fit.
inline Problem square_head_problem(std::uint32_t seed) {
  StudySizes sizes;
  sizes.tokens = sizes.keys = sizes.d_k = 3;
  sizes.heads = sizes.kv_heads = 2;
  return study_layer(seed, sizes);
}

// Scores so large that e^z overflows.
inline Problem large_scores_problem(std::uint32_t seed) {
  Problem p = study_problem(seed);
  for (Tensor* tensor : {&p.X, &p.Q.W})
    for (Index i = 0; i < tensor->size(); ++i) tensor->data()[i] *= 40;
  return p;
}

// As the worked example: 3 tokens of 4 numbers, 2 heads, integers, no bias.
inline Problem worked_size_problem(std::uint32_t seed) {
  Dice dice(seed);
  Problem p;
  p.heads = p.kv_heads = 2;
  p.X = integers(dice, {1, 1, 3, 4}, 0, 2);
  for (Linear* linear : {&p.Q, &p.K, &p.V}) linear->W = integers(dice, {1, 2, 4, 2}, -1, 1);
  p.O.W = integers(dice, {1, 1, 4, 4}, -1, 1);
  return p;
}

inline Problem worked_size_causal_problem(std::uint32_t seed) {
  Problem p = worked_size_problem(seed);
  p.masks = {plain_causal_mask()};
  return p;
}

// n 4, d_model 6, h 3 in a block: norms with gamma and beta (rms without beta), residual sums, an MLP of 5 hidden units.
inline Problem block_of(std::uint32_t seed, NormPlace place, Norm::Kind kind, Activation activation, bool gated) {
  Problem p = study_layer(seed, {.tokens = 4, .keys = 4});
  Dice dice(seed + 1000);
  const auto norm = [&] {
    NormRule rule{{.kind = kind, .eps = 0.1}, tenths(dice, {1, 1, 1, 6}, 15), {}};
    if (kind == Norm::Kind::layer) rule.beta = tenths(dice, {1, 1, 1, 6}, 10);
    return rule;
  };
  p.residual = true;
  p.norm = norm();
  p.mlp_norm = norm();
  p.norm_place = place;
  p.mlp = Mlp{{tenths(dice, {1, 1, 6, 5}, 10), tenths(dice, {1, 1, 1, 5}, 10)},
              {tenths(dice, {1, 1, 5, 6}, 10), tenths(dice, {1, 1, 1, 6}, 10)},
              {},
              activation};
  if (gated) p.mlp->gate = Linear{tenths(dice, {1, 1, 6, 5}, 10), tenths(dice, {1, 1, 1, 5}, 10)};
  return p;
}

inline Problem pre_block_problem(std::uint32_t seed) {
  return block_of(seed, NormPlace::pre, Norm::Kind::layer, Activation::gelu, false);
}

inline Problem post_block_problem(std::uint32_t seed) {
  return block_of(seed, NormPlace::post, Norm::Kind::layer, Activation::gelu_tanh, false);
}

inline Problem gated_block_problem(std::uint32_t seed) {
  return block_of(seed, NormPlace::pre, Norm::Kind::rms, Activation::silu, true);
}

struct StudyVariant {
  std::string_view name;
  Problem (*draw)(std::uint32_t seed);
};
inline constexpr std::array study_variants = {
    StudyVariant{"causal", study_problem},
    StudyVariant{"no mask", unmasked_problem},
    StudyVariant{"packed", packed_problem},
    StudyVariant{"fused", fused_problem},
    StudyVariant{"grouped heads", grouped_problem},
    StudyVariant{"rope, half", rope_half_problem},
    StudyVariant{"rope, interleaved", rope_interleaved_problem},
    StudyVariant{"softcap", softcap_problem},
    StudyVariant{"own scale", own_scale_problem},
    StudyVariant{"causal and padding", causal_padding_problem},
    StudyVariant{"window and padding", window_padding_problem},
    StudyVariant{"row without key", row_without_key_problem},
    StudyVariant{"cross-attention", cross_problem},
    StudyVariant{"n = d_k", square_head_problem},
    StudyVariant{"large scores", large_scores_problem},
    StudyVariant{"worked size", worked_size_problem},
    StudyVariant{"worked size, causal", worked_size_causal_problem},
    StudyVariant{"block, pre", pre_block_problem},
    StudyVariant{"block, post", post_block_problem},
    StudyVariant{"block, gated", gated_block_problem},
};

}  // namespace mha::test
