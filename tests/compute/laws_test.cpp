// What must hold of attention whatever the numbers: laws over random problems, and the plain oracle, on every backend.
#include <numeric>

#include "catch.hpp"
#include "compute/cpu_variants.hpp"
#include "compute/oracle.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"
#include "core/mask.hpp"
#include "fewer_draws.hpp"

namespace mha::test {
namespace {

// Fewer on a device, where a small problem takes a hundred times as long as on the CPU.
std::uint32_t draws_on(const Arm& arm) {
  return draws(arm.is_cpu() && arm.kernels.empty() ? 40 : 10);
}

// b×h×n×m switches of which about one in four is 1; the first key of each row is 0 unless `any_row`.
Tensor random_switches(Dice& dice, Shape shape, bool any_row) {
  Tensor tensor(shape);
  for (Index i = 0; i < tensor.size(); ++i)
    tensor.data()[i] = dice.whole(0, 3) == 0 && (any_row || i % shape.cols > 0) ? 1 : 0;
  return tensor;
}

// Rows (the tokens) of every item in another order.
Tensor permuted_rows(const Tensor& from, const std::vector<Index>& order) {
  Tensor to(from.shape());
  const Shape& s = from.shape();
  for (Index item = 0; item < s.batch; ++item)
    for (Index head = 0; head < s.heads; ++head)
      for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j < s.cols; ++j)
          to.at(item, head, i, j) = from.at(item, head, order[static_cast<std::size_t>(i)], j);
  return to;
}

std::vector<Index> shuffled(Dice& dice, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = count - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(dice.whole(0, i))]);
  return order;
}

// Per-head weights 1×h×r×c side by side: 1×1×r×(h·c).
Tensor side_by_side(const Tensor& heads) {
  const Shape s = heads.shape();
  Tensor packed({1, 1, s.rows, s.heads * s.cols});
  for (Index head = 0; head < s.heads; ++head)
    for (Index r = 0; r < s.rows; ++r)
      for (Index c = 0; c < s.cols; ++c) packed.at(0, 0, r, head * s.cols + c) = heads.at(0, head, r, c);
  return packed;
}

Tensor transposed(const Tensor& from) {
  const Shape s = from.shape();
  Tensor to({s.batch, s.heads, s.cols, s.rows});
  for (Index head = 0; head < s.heads; ++head)
    for (Index r = 0; r < s.rows; ++r)
      for (Index c = 0; c < s.cols; ++c) to.at(0, head, c, r) = from.at(0, head, r, c);
  return to;
}

Problem packed(const Problem& per_head) {
  Problem p = per_head;
  p.packed = true;
  for (Linear* linear : {&p.Q, &p.K, &p.V}) linear->W = side_by_side(linear->W), linear->b = side_by_side(*linear->b);
  return p;
}

}  // namespace

TEST_CASE("the engine computes what the plain oracle computes", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= 2 * draws_on(arm); ++seed) {
      Dice dice(seed);
      const Sizes s = random_sizes(dice);
      Problem p = random_problem(dice, s);
      const Shape scores{s.batch, s.heads, s.tokens, s.keys};
      p.masks = {matrix_mask(Mask::Kind::add, dice.tensor(scores)),
                 matrix_mask(Mask::Kind::block, random_switches(dice, scores, true))};
      Tensor mask = p.masks[0].matrix;
      for (Index i = 0; i < mask.size(); ++i)
        if (p.masks[1].matrix.data()[i] == 1) mask.data()[i] = -infinity;
      const Layer layer{p.X,   p.keys_from(), p.Q.W, *p.Q.b, p.K.W, *p.K.b,
                        p.V.W, *p.V.b,        p.O.W, *p.O.b, mask,  p.scale_factor()};
      const Tensor expected = oracle(layer);
      INFO(arm.name << " seed " << seed);
      CHECK(difference(output_of(p, arm), expected) < arm.exactness);
    }
}

TEST_CASE("rows of weights sum to 1, hidden entries are exactly 0, a row without a key is 0", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      const Sizes s = random_sizes(dice);
      Problem p = random_problem(dice, s);
      p.masks = {matrix_mask(Mask::Kind::block, random_switches(dice, {s.batch, s.heads, s.tokens, s.keys}, true))};
      const Tensor& hidden = p.masks[0].matrix;
      const Run result(p, arm);
      const Tensor& A = result[StepId::weights];
      for (Index row = 0; row < A.size() / s.keys; ++row) {
        double sum = 0;
        bool open = false;
        for (Index j = 0; j < s.keys; ++j) {
          const Index at = row * s.keys + j;
          sum += A.data()[at];
          open = open || hidden.data()[at] == 0;
          if (hidden.data()[at] == 1) CHECK(A.data()[at] == 0);
        }
        CHECK(std::abs(sum - (open ? 1 : 0)) < arm.exactness);
        if (!open)
          for (Index c = 0; c < s.d_v; ++c) CHECK(result[StepId::head_output].data()[row * s.d_v + c] == 0);
      }
    }
}

TEST_CASE("NaN in a row makes the whole row NaN, wherever it stands; it is no row without a key", "[laws]") {
  for (const Arm& arm : every_backend()) {
    INFO(arm.name);
    Dice dice(6);
    Problem p = random_problem(dice, {});
    for (Index at = 0; at < 5; ++at) {
      Tensor mask({1, 1, 5, 5});
      mask.fill(0);
      for (Index j = 0; j < 5; ++j) mask.at(0, 0, 1, j) = -infinity;
      mask.at(0, 0, 1, at) = std::nan("");
      p.masks = {matrix_mask(Mask::Kind::add, mask)};
      const Run result(p, arm);
      for (Index j = 0; j < 5; ++j) {
        CHECK(std::isnan(result[StepId::weights].at(0, 0, 1, j)));
        CHECK_FALSE(std::isnan(result[StepId::weights].at(0, 0, 0, j)));
      }
    }
  }
}

TEST_CASE("a causal prefix does not see later tokens", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      Problem p = random_problem(dice, {});
      p.masks = {causal_mask()};
      const Tensor before = output_of(p, arm);
      for (Index c = 0; c < p.d_model(); ++c) p.X.at(0, 0, 4, c) += 1 + dice.number();
      const Tensor after = output_of(p, arm);
      for (Index i = 0; i < 4; ++i)
        for (Index c = 0; c < p.d_out(); ++c) CHECK(before.at(0, 0, i, c) == after.at(0, 0, i, c));
      CHECK(difference(before, after) > 1e-6);
    }
}

TEST_CASE("the order of keys with their values does not matter, that of queries orders the rows", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      Sizes s = random_sizes(dice);
      s.cross = true;
      const Problem p = random_problem(dice, s);
      const Tensor Y = output_of(p, arm);
      Problem keys_moved = p;
      keys_moved.X_kv = permuted_rows(*p.X_kv, shuffled(dice, s.keys));
      CHECK(difference(output_of(keys_moved, arm), Y) < arm.exactness);
      Problem queries_moved = p;
      const std::vector<Index> order = shuffled(dice, s.tokens);
      queries_moved.X = permuted_rows(p.X, order);
      CHECK(difference(output_of(queries_moved, arm), permuted_rows(Y, order)) < arm.exactness);
    }
}

TEST_CASE("the items of a batch are independent", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      Sizes s = random_sizes(dice);
      s.batch = 3;
      Problem p = random_problem(dice, s);
      Mask window = causal_mask(Align::Kind::per_item);
      window.align->offsets = {0, 2, 1};
      p.masks = {window, matrix_mask(Mask::Kind::padding, random_switches(dice, {3, 1, 1, s.keys}, true))};
      const Tensor Y = output_of(p, arm);
      for (Index item = 0; item < 3; ++item) {
        const Tensor alone = output_of(select_item(p, item), arm);
        CHECK(alone.shape() == Shape{1, 1, s.tokens, s.d_out});
        CHECK(std::equal(alone.data(), alone.data() + alone.size(), Y.matrix(item, 0)));
      }
    }
}

TEST_CASE("grouped heads equal repeated key and value weights", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      Sizes s;
      s.heads = 6;
      s.kv_heads = 2;
      const Problem grouped = random_problem(dice, s);
      Problem repeated = grouped;
      repeated.kv_heads = 6;
      const auto repeat = [](const Tensor& two) {
        Tensor six({1, 6, two.shape().rows, two.shape().cols});
        for (Index head = 0; head < 6; ++head)
          std::copy_n(two.matrix(0, head < 3 ? 0 : 1), two.shape().rows * two.shape().cols, six.matrix(0, head));
        return six;
      };
      for (Linear* linear : {&repeated.K, &repeated.V}) linear->W = repeat(linear->W), linear->b = repeat(*linear->b);
      CHECK(difference(output_of(grouped, arm), output_of(repeated, arm)) < arm.exactness);
    }
}

TEST_CASE("packed weights equal per-head weights, in both layouts", "[laws]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= draws_on(arm); ++seed) {
      Dice dice(seed);
      const Problem p = random_problem(dice, random_sizes(dice));
      const Tensor Y = output_of(p, arm);
      Problem together = packed(p);
      CHECK(difference(output_of(together, arm), Y) < arm.exactness);
      CHECK(together.d_k() == p.d_k());
      together.layout = Layout::torch;
      for (Linear* linear : {&together.Q, &together.K, &together.V, &together.O}) linear->W = transposed(linear->W);
      CHECK(difference(output_of(together, arm), Y) < arm.exactness);
    }
}

TEST_CASE("W_Q = 0 gives every query the mean of the values", "[laws]") {
  for (const Arm& arm : every_backend()) {
    INFO(arm.name);
    Dice dice(7);
    Problem p = random_problem(dice, {});
    p.Q.W.fill(0);
    p.Q.b->fill(0);
    const Run result(p, arm);
    const Tensor& V = result[StepId::V];
    for (Index head = 0; head < p.heads; ++head)
      for (Index c = 0; c < p.d_v(); ++c) {
        double mean = 0;
        for (Index j = 0; j < p.keys(); ++j) mean += V.at(0, head, j, c) / static_cast<double>(p.keys());
        for (Index i = 0; i < p.queries(); ++i)
          CHECK(std::abs(result[StepId::head_output].at(0, head, i, c) - mean) < arm.exactness);
      }
  }
}

TEST_CASE("a constant added to a row of scores changes nothing", "[laws]") {
  for (const Arm& arm : every_backend()) {
    INFO(arm.name);
    Dice dice(8);
    Problem p = random_problem(dice, {});
    const Tensor before = Run(p, arm)[StepId::weights];
    Tensor rows({1, 1, 5, 5});
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 5; ++j) rows.at(0, 0, i, j) = 100 * static_cast<double>(i - 2);
    p.masks = {matrix_mask(Mask::Kind::add, rows)};
    CHECK(difference(Run(p, arm)[StepId::weights], before) < arm.exactness);
  }
}

TEST_CASE("rotary scores depend on the distance of positions only", "[laws]") {
  for (const Arm& arm : every_backend())
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      Dice dice(9);
      Sizes s;
      s.d_k = 6;
      Problem p = random_problem(dice, s);
      p.rope = Rope{};
      p.rope->dims = 4;
      p.rope->pairing = pairing;
      const Run at_0(p, arm);
      p.rope->start = 11;
      const Run at_11(p, arm);
      CHECK(difference(at_11[StepId::scores], at_0[StepId::scores]) < arm.exactness);
      CHECK(difference(at_11[StepId::Q_rot], at_0[StepId::Q_rot]) > 1e-3);
      for (Index i = 0; i < 5; ++i)  // columns behind `dims` stay
        for (Index c = 4; c < 6; ++c) CHECK(at_11[StepId::Q_rot].at(0, 0, i, c) == at_11[StepId::Q].at(0, 0, i, c));
    }
}

}  // namespace mha::test
