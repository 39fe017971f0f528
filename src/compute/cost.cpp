// Counts the operations and the traffic of a step from its shapes.
#include "compute/cost.hpp"

#include "core/error.hpp"
#include "core/op_rules.hpp"

namespace mha::compute {
namespace {

double size_of(const Plan& plan, ValueId id) {
  return static_cast<double>(plan.value(id).shape.size());
}

[[noreturn]] void refuse_count() {
  throw Error({"these sizes give more than 9,223,372,036,854,775,807 of something; count smaller ones",
               "按这些大小，有的数目会超过 9,223,372,036,854,775,807；请改用较小的值"});
}

// How many products of two factors an entry of the result is summed up from.
Index products_per_entry(const Plan& plan, const Step& step) {
  Index products = 0;
  if (info_of(step.op).sums && info_of(step.op).per_read > 0)
    for_each_term(plan, step, {}, [&](const Term& term) { products += term.count == 2; });
  return products;
}

double operations_per_entry(const Plan& plan, const Step& step) {
  const OpInfo info = info_of(step.op);
  double operations = info.operations;
  if (info.per_read > 0)
    for_each_term(plan, step, {}, [&](const Term& term) { operations += info.per_read * static_cast<double>(term.count); });
  return operations;
}

}  // namespace

Cost cost_of(const Plan& plan, const Step& step) {
  const double result = size_of(plan, step.out);
  Cost cost{operations_per_entry(plan, step) * result, result};
  for (const ValueId id : step.in) cost.numbers += size_of(plan, id);
  return cost;
}

Index exact_product(std::initializer_list<Index> factors) {
  Index result = 1;
  for (const Index factor : factors)
    if (__builtin_mul_overflow(result, factor, &result)) refuse_count();
  return result;
}

Index exact_sum(Index a, Index b) {
  if (__builtin_add_overflow(a, b, &a)) refuse_count();
  return a;
}

Count count_of(const Plan& plan, const Step& step) {
  const Shape& to = plan.value(step.out).shape;
  Count count;
  count.numbers = exact_product({to.batch, to.heads, to.rows, to.cols});
  count.multiply_adds = exact_product({count.numbers, products_per_entry(plan, step)});
  if (info_of(step.op).shares != Shares::none && step.softmax.power != Softmax::Power::none)
    count.exponentials = count.numbers;
  return count;
}

bool is_view(const Plan& plan, const Step& step) {
  return step.op == Op::split && step.arrangement != Arrangement::interleaved && plan.value(step.in[0]).shape.heads == 1;
}

bool copies_nothing(const Plan& plan, const Step& step) {
  return is_view(plan, step) || (step.op == Op::merge && step.arrangement == Arrangement::side_by_side);
}

double operations(const Plan& plan) {
  double sum = 0;
  for (const Step& step : plan.steps) sum += cost_of(plan, step).operations;
  return sum;
}

}  // namespace mha::compute
