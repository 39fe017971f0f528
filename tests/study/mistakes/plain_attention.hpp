// Multi-head attention in plain loops, with stages that can be replaced, so that work can be done in another way in it.
#pragma once

#include "folders.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/step.hpp"
#include "study/mistakes/plain_layer.hpp"

namespace mha::test {

// The matrices of each step: one for each head, or a single one (X, packed.Q, concat, output). A mistake may change their
// shape and number.
struct PlainTrace {
  std::map<StepId, PlainHeads> steps;
};

// What one head has when it mixes the values: everything n×…, m×…, before rotation.
struct PlainHead {
  const PlainMatrix &Q, &K, &V;
};

using Slice = std::vector<double>;  // numbers that are normalised together

// How the numbers are computed. As constructed, everything is right.
struct PlainSetting {
  explicit PlainSetting(PlainLayer of);

  PlainLayer layer;
  std::optional<int> decimals;  // each stage rounded before the next reads it
  double empty = 0;             // the weights of a slice that is −∞ throughout

  std::function<PlainHeads(const PlainMatrix& all, Index heads)> split;
  std::function<PlainMatrix(const PlainHead&)> score;  // reads the rotated Q and K where there are such
  std::function<double(double z, double added)> masked;
  std::function<Slice(const Slice&, double empty)> softmax;
  std::function<PlainHeads(const PlainHeads& weights, const PlainHeads& added)> finish_weights;
  std::function<PlainMatrix(const PlainHeads&)> merge;
};

PlainTrace attend(const PlainSetting& setting);
// `empty`: what a row without a key gets.
PlainTrace plain_right(const Problem& problem, std::optional<int> decimals = {}, double empty = 0);

// The softmax of one slice with its maximum subtracted first. NaN anywhere makes all of it NaN.
Slice plain_softmax(const Slice& z, double empty);
bool is_all_hidden(const Slice& z);

// The first step and head (from 0) at which two traces differ, in shape or by more than a relative 1e-9; steps that only
// one of them has are passed over.
struct PlainPlace {
  StepId step;
  Index head;
};
std::optional<PlainPlace> first_plain_difference(const PlainTrace& right, const PlainTrace& other);

}  // namespace mha::test
