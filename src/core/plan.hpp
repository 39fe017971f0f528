// The computation as data: a list of steps over numbered values, in the order of the paper.
#pragma once

#include "core/op.hpp"
#include "core/problem.hpp"
#include "core/step.hpp"

namespace mha {

using ValueId = int;

// A matrix (for each batch item and head) that is given, or that a step computes.
struct Value {
  enum class Role { input, weight, bias, constant, mask, cache, step };
  Role role = Role::step;
  std::string symbol;     // "X", "W_Q", "Q", "1/√d_k"; without the head's number
  bool per_head = false;  // the symbol takes the head's number
  Shape shape;
  std::optional<StepId> step;              // what computes it (X names itself)
  int layer = 0;                           // whose step, weight, … it is, from 0; the final norm stands in the last one
  std::shared_ptr<const Tensor> constant;  // null for what a step computes
  int mask = -1;                           // for Role::mask: its place in Problem::masks
  std::vector<bool> has_b = {};            // of a bias, as Linear::has_b
  std::shared_ptr<const Tensor> angles;    // of which the constants are the cosines or sines
  ValueId newest = -1;                     // for Role::cache: whose rows stand behind those that are there already
  // Of a backward pass (core/gradient.hpp): dL/d of another value, one of the parts that are added up to it (which is never
  // rounded by hand), or r, the row sums that it needs.
  enum class Gradient { none, whole, part, row_sums };
  Gradient gradient = Gradient::none;
  ValueId of = -1;  // that value
};

struct Step {
  Op op;
  StepId id;
  std::vector<ValueId> in;
  ValueId out = -1;
  bool transposed = false;          // product: the second operand is used transposed; rotate: by −angle
  bool first_transposed = false;    // product: the first one is
  double cap = 0;                   // softcap: c
  Pairing pairing = Pairing::half;  // rotate
  Arrangement arrangement = Arrangement::side_by_side;  // split, merge
  Pooling pooling = Pooling::mean;                      // pool
  bool heads_first = false;                             // reshape: of all items, head 1 of each before head 2
  Softmax softmax = {};
  Norm norm = {};
  Activation activation = Activation::none;
  int layer = 0;  // from 0
};

// Where the rows of a plan of new rows stand: behind so many tokens, whose keys and values lie in caches but for the first
// ones, which a window has dropped.
struct Past {
  Index tokens = 0, dropped = 0;
};

struct Plan {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<Past> past = {};  // by layer; empty: of all rows

  // A head's zeros that stand where others have a bias are no parameter.
  bool is_absent(ValueId parameter, Index head) const {
    const std::vector<bool>& has_b = value(parameter).has_b;
    return !has_b.empty() && !has_b[static_cast<std::size_t>(head)];
  }
  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  // The value that holds this step's result in this layer (X and the final norm are those of all), or nothing where there
  // is no such step.
  std::optional<ValueId> find(StepId step, int layer = 0) const;
  // dL/d of this value, or nothing where the plan does not compute it.
  std::optional<ValueId> gradient(ValueId of) const;
  // P, the result of the last forward step.
  ValueId forward_result() const;
  // Whether this is a step of the backward pass; its id and layer are those of the forward step through which it goes.
  bool is_backward(const Step& step) const { return value(step.out).gradient != Value::Gradient::none; }
  // The step that computes this value; null for what is given.
  const Step* writer_of(ValueId id) const;
};

// The steps of multi-head attention (Vaswani et al. 2017, section 3.2), its norms, residual sums and MLP, layer after
// layer, for this problem, which the plan refers to and which must outlive it.
Plan make_plan(const Problem& problem);

}  // namespace mha
