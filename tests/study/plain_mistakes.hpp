// Every mistake that people make, simulated in plain loops: what check must recognise, independent of its own simulation.
#pragma once

#include "folders.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/plain_attention.hpp"

namespace mha::test {

struct PlainMistake {
  std::string id;
  std::string detail;                           // which variant; empty where there is one only
  std::function<bool(const Problem&)> applies;  // whether it can be made at all, not whether its numbers show it
  std::function<void(PlainSetting&)> make;
  double empty = 0;  // what a slice that is −∞ throughout becomes

  PlainTrace run(const Problem& problem, std::optional<int> decimals = {}) const;
};

// One for each id and variant, in the order of the computation; then those again in which an empty slice becomes NaN.
std::vector<PlainMistake> plain_mistakes();

// The parts of that list.
std::vector<PlainMistake> plain_projection_mistakes();  // Q, K, V: weights and biases
std::vector<PlainMistake> plain_split_mistakes();       // which part of them a head gets, grouped heads, rotation
std::vector<PlainMistake> plain_score_mistakes();       // scores, scale, softcap
std::vector<PlainMistake> plain_mask_mistakes();
std::vector<PlainMistake> plain_weight_mistakes();  // softmax
std::vector<PlainMistake> plain_output_mistakes();  // head output, concatenation, output

}  // namespace mha::test
