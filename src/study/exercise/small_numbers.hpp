// Draws problems with numbers for a pencil, the same on every platform.
#pragma once

#include <random>

#include "core/problem.hpp"

namespace mha::study {

struct ExerciseSizes {
  Index tokens = 3, d_model = 6, heads = 3, kv_heads = 3, d_k = 2;  // d_v is d_k, d_out is d_model
  bool causal = false;
  bool bias = false;
  bool residual = false;
  std::optional<Norm::Kind> norm = {};  // of each sublayer
  bool norm_behind = false;
  bool final_norm = false;  // of the last layer
  Index mlp = 0;            // its width; 0: none
  Activation activation = Activation::relu;
  bool gate = false;
  int layers = 1;
  bool gradient = false;  // with a loss
};

// Numbers are whole multiples of 1/parts, from −largest to largest.
struct Grain {
  int parts;
  int largest;  // in multiples
};

struct Difficulty {
  std::string_view name;
  Grain X, weights;
  double largest_score;  // after the scale, and between two scores of a row: beyond it softmax saturates
  Activation activation = Activation::relu;
  bool final_norm = false;  // behind layers with norms before their sublayers
};
inline constexpr std::array difficulties = {
    Difficulty{"easy", {1, 1}, {1, 1}, 3},
    Difficulty{"normal", {1, 2}, {2, 2}, 3.5},
    Difficulty{"hard", {10, 15}, {10, 10}, 4, Activation::silu, true},
};

// The raw 32 bits of the engine are mapped by hand, since the distributions of <random> differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  int whole(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<std::uint32_t>(most - least + 1));
  }
  double real() { return static_cast<double>(engine_()) / 4294967296.0 * 2 - 1; }  // in [−1, 1)

 private:
  std::mt19937 engine_;
};

// One layer, which reads X where there is one. Nothing where the scores will not stay small.
std::optional<Problem> draw_small_numbers(const ExerciseSizes& sizes, const Difficulty& difficulty, Dice& dice,
                                          const std::optional<Tensor>& X = {});

// A layer of real numbers, none of them special, with scores as small.
Problem draw_real_numbers(const ExerciseSizes& sizes, Dice& dice);

}  // namespace mha::study
