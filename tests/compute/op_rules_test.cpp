// What an op is said to read is what it is computed from: each op's entries made again from their terms, and unmoved by all
// other entries of the operands.
#include "core/op_rules.hpp"

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

struct OpCase {
  Step step;
  std::vector<Shape> operands;
  Shape wanted;
};

Step with(Step step, void (*set)(Step&)) {
  set(step);
  return step;
}

// Every op, with each of its settings that changes what is read; batch items and heads are broadcast where they may be.
std::vector<OpCase> cases() {
  const Shape a{2, 4, 3, 6};
  const auto id = StepId::output;
  return {
      {{Op::product, id, {0, 1, 2}}, {a, {1, 2, 6, 5}, {1, 4, 1, 5}}, a},
      {with({Op::product, id, {0, 1}}, [](Step& s) { s.transposed = true; }), {a, {2, 2, 5, 6}}, a},
      {with({Op::product, id, {0, 1}}, [](Step& s) { s.first_transposed = true; }), {a, {1, 1, 3, 5}}, a},
      {{Op::split, id, {0}}, {{2, 1, 3, 8}}, {2, 4, 3, 2}},
      {with({Op::split, id, {0}}, [](Step& s) { s.arrangement = Arrangement::interleaved; }), {{2, 1, 3, 8}}, {2, 4, 3, 2}},
      {{Op::merge, id, {0}}, {a}, a},
      {with({Op::merge, id, {0}}, [](Step& s) { s.arrangement = Arrangement::reversed; }), {a}, a},
      {{Op::rotate, id, {0, 1, 2}}, {a, {1, 1, 3, 2}, {1, 1, 3, 2}}, a},
      {with({Op::rotate, id, {0, 1, 2}}, [](Step& s) { s.pairing = Pairing::interleaved; }),
       {a, {1, 1, 3, 3}, {1, 1, 3, 3}},
       a},
      {{Op::multiply, id, {0, 1}}, {a, {1, 2, 3, 1}}, a},
      {with({Op::softcap, id, {0}}, [](Step& s) { s.cap = 2; }), {a}, a},
      {{Op::add, id, {0, 1, 2}}, {a, {1, 4, 1, 6}, {2, 1, 3, 6}}, a},
      {{Op::softmax, id, {0}}, {a}, a},
      {with({Op::softmax, id, {0}}, [](Step& s) { s.softmax.over = Softmax::Over::column; }), {a}, a},
      {with({Op::softmax, id, {0}}, [](Step& s) { s.softmax.over = Softmax::Over::heads; }), {a}, a},
      {with({Op::softmax, id, {0}}, [](Step& s) { s.softmax.over = Softmax::Over::matrix; }), {a}, a},
      {with({Op::softmax, id, {0}}, [](Step& s) { s.softmax.over = Softmax::Over::items; }), {a}, a},
      {{Op::copy, id, {0}}, {{2, 2, 3, 6}}, a},
      {{Op::norm, id, {0, 1, 2}}, {a, {1, 1, 1, 6}, {1, 1, 1, 6}}, a},
      {with({Op::norm, id, {0}}, [](Step& s) { s.norm.kind = Norm::Kind::rms; }), {a}, a},
      {with({Op::norm, id, {0}}, [](Step& s) { s.norm.by_column = true; }), {a}, a},
      {with({Op::activation, id, {0}}, [](Step& s) { s.activation = Activation::gelu; }), {a}, a},
      {with({Op::activation, id, {0, 1}}, [](Step& s) { s.activation = Activation::silu; }), {a, a}, a},
      {with({Op::rotate, id, {0, 1, 2}}, [](Step& s) { s.transposed = true; }), {a, {1, 1, 3, 2}, {1, 1, 3, 2}}, a},
      {{Op::difference, id, {0, 1}}, {a, a}, a},
      {{Op::difference, id, {0, 1, 2}}, {a, {2, 4, 3, 1}, a}, a},
      {with({Op::slope, id, {0, 1, 2}}, [](Step& s) { s.activation = Activation::silu; }), {a, a, a}, a},
      {with({Op::slope, id, {0, 1}}, [](Step& s) { s.cap = 30; }), {a, a}, a},
      {{Op::norm_slope, id, {0, 1, 2}}, {a, a, {1, 1, 1, 6}}, a},
      {with({Op::norm_slope, id, {0, 1}}, [](Step& s) { s.norm.kind = Norm::Kind::rms; }), {a, a}, a},
      {{Op::sum, id, {0, 1}}, {a, a}, {2, 4, 3, 1}},
      {{Op::sum, id, {0}}, {a}, {1, 2, 1, 6}},
      {{Op::reshape, id, {0}}, {a}, {2, 4, 9, 2}},
      {{Op::reshape, id, {0}}, {a}, {2, 1, 8, 9}},
      {with({Op::reshape, id, {0}}, [](Step& s) { s.heads_first = true; }), {a}, {2, 1, 3, 24}},
      {{Op::pool, id, {0}}, {a}, a},
      {with({Op::pool, id, {0}}, [](Step& s) { s.pooling = Pooling::maximum; }), {a}, a},
  };
}

// The step alone, on drawn operands.
Plan plan_of(const OpCase& c, Dice& dice) {
  Plan plan;
  for (const Shape& shape : c.operands) {
    Value value;
    value.shape = shape;
    value.constant = std::make_shared<const Tensor>(dice.tensor(shape));
    plan.values.push_back(std::move(value));
  }
  plan.steps = {c.step};
  plan.steps[0].out = static_cast<ValueId>(plan.values.size());
  plan.values.emplace_back();
  plan.values.back().shape = c.wanted;
  plan.values.back().shape = result_shape(plan, plan.steps[0], c.wanted).value();
  return plan;
}

Tensor result_of(const Plan& plan) {
  std::vector<bool> keep(plan.values.size(), false);
  keep.back() = true;
  return *run(plan, {keep, Dtype::f64, {}}).values.back();
}

template <typename Look>
void each_entry(const Shape& shape, Look look) {
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      for (Index row = 0; row < shape.rows; ++row)
        for (Index column = 0; column < shape.cols; ++column) look(Entry{item, head, row, column});
}

double number(const Tensor& tensor, const Entry& at) {
  return tensor.at(at.item, at.head, at.row, at.column);
}

}  // namespace

TEST_CASE("an entry changes with the entries that it is said to read, and with no other", "[op rules]") {
  Dice dice(11);
  for (const OpCase& c : cases()) {
    INFO(info_of(c.step.op).name);
    Plan plan = plan_of(c, dice);
    const Step& step = plan.steps[0];
    CHECK(uses_all_that_is_set(step));
    const Tensor before = result_of(plan);
    for (std::size_t operand = 0; operand < c.operands.size(); ++operand) {
      const std::shared_ptr<const Tensor> kept = plan.values[operand].constant;
      each_entry(c.operands[operand], [&](const Entry& moved) {
        auto changed = std::make_shared<Tensor>(*kept);
        changed->at(moved.item, moved.head, moved.row, moved.column) += 10;
        plan.values[operand].constant = changed;
        const Tensor after = result_of(plan);
        each_entry(before.shape(), [&](const Entry& at) {
          bool read = false;
          for_each_term(plan, step, at, [&](const Term& term) {
            for (const Read& one : term) read = read || (one.operand == operand && one.at == moved);
          });
          if ((number(before, at) != number(after, at)) != read) CHECK(number(before, at) == number(after, at));
        });
      });
      plan.values[operand].constant = kept;
    }
  }
}

TEST_CASE("a sum is the sum of its terms, and what only moves is what it reads", "[op rules]") {
  Dice dice(12);
  for (const OpCase& c : cases()) {
    const OpInfo info = info_of(c.step.op);
    INFO(info.name);
    const bool one_product = c.step.op == Op::multiply;
    if ((!info.sums && !info.moves && !one_product) || info.shares != Shares::none || c.step.op == Op::pool) continue;
    const Plan plan = plan_of(c, dice);
    const Tensor result = result_of(plan);
    each_entry(result.shape(), [&](const Entry& at) {
      double sum = 0;
      for_each_term(plan, plan.steps[0], at, [&](const Term& term) {
        double product = 1;
        for (const Read& one : term) product *= number(*plan.values[one.operand].constant, one.at);
        sum += product;
      });
      CHECK(sum == Approx(number(result, at)));
    });
  }
}

}  // namespace mha::test
