// Blocks and stacks on every backend: what norms, residual sums and MLPs must hold to, and the plain formulas.
#include <numeric>

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

constexpr Index d = 6, hidden = 5;

NormRule random_norm(Dice& dice, Norm::Kind kind) {
  NormRule norm;
  norm.rule.kind = kind;
  norm.gamma = dice.tensor({1, 1, 1, d});
  if (kind == Norm::Kind::layer) norm.beta = dice.tensor({1, 1, 1, d});
  return norm;
}

Mlp random_mlp(Dice& dice, Activation activation, bool gated) {
  Mlp mlp;
  mlp.activation = activation;
  mlp.first = {dice.tensor({1, 1, d, hidden}), dice.tensor({1, 1, 1, hidden})};
  if (gated) mlp.gate = {dice.tensor({1, 1, d, hidden}), {}};
  mlp.second = {dice.tensor({1, 1, hidden, d}), dice.tensor({1, 1, 1, d})};
  return mlp;
}

// An attention that keeps the width of its tokens, with norms, residual sums and an MLP.
Problem random_block(Dice& dice, NormPlace place, Norm::Kind kind, Activation activation, bool gated) {
  Sizes sizes;
  sizes.d_out = d;
  Problem p = random_problem(dice, sizes);
  p.residual = true;
  p.norm = random_norm(dice, kind);
  p.mlp_norm = random_norm(dice, kind);
  p.norm_place = place;
  p.mlp = random_mlp(dice, activation, gated);
  return p;
}

std::vector<Problem> random_blocks(std::uint32_t seed) {
  Dice dice(seed);
  std::vector<Problem> blocks;
  for (const NormPlace place : {NormPlace::pre, NormPlace::post})
    for (const Norm::Kind kind : {Norm::Kind::layer, Norm::Kind::rms})
      for (const Activation activation :
           {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
        blocks.push_back(random_block(dice, place, kind, activation, activation == Activation::silu));
  return blocks;
}

// A stack of these, of which the first one's X is the stack's.
Problem stack_of(std::vector<Problem> layers) {
  Problem stack;
  stack.X = layers.front().X;
  stack.layers = std::move(layers);
  return stack;
}

using RowRule = std::vector<double> (*)(const std::vector<double>&, const Problem&);

Tensor by_rows(const Tensor& x, Index cols, const Problem& p, RowRule rule) {
  Tensor y({1, 1, x.shape().rows, cols});
  for (Index i = 0; i < x.shape().rows; ++i) {
    const double* row = x.matrix(0, 0) + i * x.shape().cols;
    const std::vector<double> made = rule({row, row + x.shape().cols}, p);
    std::copy(made.begin(), made.end(), y.data() + i * cols);
  }
  return y;
}

std::vector<double> plain_norm(const std::vector<double>& x, const NormRule& norm) {
  const auto n = static_cast<double>(x.size());
  const double mean = norm.rule.kind == Norm::Kind::layer ? std::accumulate(x.begin(), x.end(), 0.0) / n : 0;
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  std::vector<double> y;
  for (std::size_t j = 0; j < x.size(); ++j)
    y.push_back((x[j] - mean) / std::sqrt(variance + norm.rule.eps) * norm.gamma->data()[j] +
                (norm.beta ? norm.beta->data()[j] : 0));
  return y;
}

double plain_activation(Activation activation, double x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return std::max(0.0, x);
    case Activation::gelu: return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1)) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
  }
  return x;
}

std::vector<double> plain_linear(const std::vector<double>& x, const Linear& linear) {
  const Index cols = linear.W.shape().cols;
  std::vector<double> y(static_cast<std::size_t>(cols), 0);
  for (Index c = 0; c < cols; ++c) {
    double& sum = y[static_cast<std::size_t>(c)];
    for (std::size_t r = 0; r < x.size(); ++r) sum += x[r] * linear.W.at(0, 0, static_cast<Index>(r), c);
    if (linear.b) sum += linear.b->data()[c];
  }
  return y;
}

std::vector<double> plain_mlp(const std::vector<double>& x, const Problem& p) {
  std::vector<double> units = plain_linear(x, p.mlp->first);
  const std::vector<double> gate = p.mlp->gate ? plain_linear(x, *p.mlp->gate) : units;
  for (std::size_t j = 0; j < units.size(); ++j)
    units[j] = plain_activation(p.mlp->activation, gate[j]) * (p.mlp->gate ? units[j] : 1);
  return plain_linear(units, p.mlp->second);
}

Tensor sum(const Tensor& a, const Tensor& b) {
  Tensor result = a;
  for (Index i = 0; i < a.size(); ++i) result.data()[i] += b.data()[i];
  return result;
}

// The attention alone, by the engine, and the rest by plain loops.
Tensor plain_block(const Problem& block, const Tensor& x) {
  const bool post = block.is_post_norm();
  const auto first_norm = [](const std::vector<double>& row, const Problem& p) { return plain_norm(row, *p.norm); };
  const auto second_norm = [](const std::vector<double>& row, const Problem& p) { return plain_norm(row, *p.mlp_norm); };
  Problem attention = block;
  attention.residual = false;
  attention.norm = attention.mlp_norm = {};
  attention.norm_place = {};
  attention.mlp = {};
  attention.X = post ? x : by_rows(x, d, block, first_norm);
  Tensor r = sum(x, output_of(attention));
  if (post) r = by_rows(r, d, block, first_norm);
  const Tensor f = by_rows(post ? r : by_rows(r, d, block, second_norm), d, block, plain_mlp);
  r = sum(r, f);
  return post ? by_rows(r, d, block, second_norm) : r;
}

Tensor last_of(const Problem& problem, const Arm& arm) {
  const Run run(problem, arm);
  return *run.trace.value(run.plan.steps.back().out);
}
Tensor last_of(const Problem& problem) {
  return last_of(problem, {"cpu", {}, Dtype::f64, 0});
}

double tolerance(const Arm& arm) {
  return 3 * arm.exactness;
}

}  // namespace

TEST_CASE("a block is what its formulas say", "[block]") {
  for (const Arm& arm : every_backend())
    for (const Problem& block : random_blocks(1)) {
      INFO(arm.name << " " << activation_names[static_cast<std::size_t>(block.mlp->activation)]);
      CHECK(difference(last_of(block, arm), plain_block(block, block.X)) < tolerance(arm));
    }
}

TEST_CASE("a stack is each of its layers on what the one before gave", "[block]") {
  const std::vector<Problem> layers = random_blocks(2);
  Tensor x = layers.front().X;
  for (const Problem& layer : layers) x = plain_block(layer, x);
  for (const Arm& arm : every_backend()) {
    INFO(arm.name);
    CHECK(difference(last_of(stack_of(layers), arm), x) < 100 * tolerance(arm));
  }
}

TEST_CASE("hidden units may stand in any order", "[block]") {
  for (const Problem& block : random_blocks(3)) {
    Problem turned = block;
    const auto turn_columns = [](Tensor& t) {
      for (Index r = 0; r < t.shape().rows; ++r) std::reverse(&t.at(0, 0, r, 0), &t.at(0, 0, r, 0) + hidden);
    };
    turn_columns(turned.mlp->first.W);
    turn_columns(*turned.mlp->first.b);
    if (turned.mlp->gate) turn_columns(turned.mlp->gate->W);
    for (Index r = 0; r < hidden; ++r)
      for (Index c = 0; c < d; ++c) turned.mlp->second.W.at(0, 0, r, c) = block.mlp->second.W.at(0, 0, hidden - 1 - r, c);
    CHECK(difference(last_of(turned), last_of(block)) < 1e-13);
  }
}

TEST_CASE("a layer with residual sums and nothing to add passes X on, bit by bit", "[block]") {
  Dice dice(4);
  Problem block = random_block(dice, NormPlace::pre, Norm::Kind::layer, Activation::gelu, false);
  for (Linear* linear : {&block.O, &block.mlp->second}) {
    linear->W.fill(0);
    linear->b->fill(0);
  }
  CHECK(same_bits(last_of(block), block.X));
}

TEST_CASE("layer norm takes no notice of a constant, rms norm none of a positive factor", "[block]") {
  Dice dice(5);
  for (const Norm::Kind kind : {Norm::Kind::layer, Norm::Kind::rms}) {
    Problem block = random_block(dice, NormPlace::pre, kind, Activation::relu, false);
    block.norm->rule.eps = 0;
    Problem moved = block;
    for (Index i = 0; i < moved.X.size(); ++i) {
      double& x = moved.X.data()[i];
      x = kind == Norm::Kind::layer ? x + 3 : x * 4;
    }
    CHECK(difference(Run(moved)[StepId::norm], Run(block)[StepId::norm]) < 1e-13);
    CHECK(difference(Run(moved)[StepId::output], Run(block)[StepId::output]) < 1e-12);
  }
}

TEST_CASE("a norm behind everything is that of the last layer's result", "[block]") {
  Dice dice(6);
  for (const bool stacked : {false, true}) {
    Problem block = random_block(dice, NormPlace::pre, Norm::Kind::rms, Activation::silu, true);
    Problem whole = stacked ? stack_of({block, block}) : block;
    const Tensor before = last_of(whole);
    whole.final_norm = random_norm(dice, Norm::Kind::layer);
    const auto rule = [](const std::vector<double>& row, const Problem& p) { return plain_norm(row, *p.final_norm); };
    CHECK(difference(last_of(whole), by_rows(before, d, whole, rule)) < 1e-13);
    CHECK(difference(Run(whole)[StepId::final_norm], last_of(whole)) == 0);
  }
}

}  // namespace mha::test
