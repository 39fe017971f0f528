// Multi-head attention in plain loops, each stage replaceable, so that every known mistake can be made in it.
#pragma once

#include "folders.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/step.hpp"
#include "study/plain_layer.hpp"

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
using Normaliser = std::function<Slice(const Slice&, double empty)>;

// How the numbers are computed. As constructed, everything is right.
struct PlainSetting {
  explicit PlainSetting(PlainLayer of);

  PlainLayer layer;
  std::optional<int> decimals;  // each stage rounded before the next reads it
  double empty = 0;             // the weights of a slice that is −∞ throughout

  std::function<double(double)> finish_projection;
  std::function<PlainHeads(const PlainMatrix& all, Index heads)> split;
  std::function<PlainMatrix(const PlainHead&)> score;  // reads the rotated Q and K where there are such
  std::function<double(double z, double cap)> capped;
  bool cap_after_mask = false;
  std::function<double(double z, double added)> masked;
  Normaliser softmax;
  std::function<PlainHeads(const PlainHeads& masked, const std::function<Slice(const Slice&)>&)> slices;
  std::function<PlainHeads(const PlainHeads& weights, const PlainHeads& added)> finish_weights;
  std::function<PlainMatrix(const PlainMatrix& weights, const PlainHead&)> mix;
  std::function<PlainMatrix(const PlainHeads&)> merge;
  std::function<PlainMatrix(const PlainMatrix& output, const PlainMatrix& X)> finish_output;
};

PlainTrace attend(const PlainSetting& setting);
// `empty`: what a row without a key gets.
PlainTrace plain_right(const Problem& problem, std::optional<int> decimals = {}, double empty = 0);

// The softmax of one slice with its maximum subtracted first. NaN anywhere makes all of it NaN.
Slice plain_softmax(const Slice& z, double empty);
bool is_all_hidden(const Slice& z);

// Which numbers are normalised together.
PlainHeads over_rows(const PlainHeads& masked, const std::function<Slice(const Slice&)>& softmax);

PlainMatrix rotated(const PlainMatrix& a, const PlainRope& rope, const std::vector<Index>& positions);

// The first step and head (from 0) at which two traces differ, in shape or by more than a relative 1e-9; steps that only
// one of them has are passed over.
struct PlainPlace {
  StepId step;
  Index head;
};
std::optional<PlainPlace> first_step_apart(const PlainTrace& right, const PlainTrace& other);

}  // namespace mha::test
