// A mask is a sum of −∞, which hides, and of other numbers, which do not.
#include "study/mistakes/hidden_keys.hpp"

#include <algorithm>

namespace mha::study {
namespace {

template <typename Holds>
bool any_entry(const Tensor& of, Holds holds) {
  const Index cols = of.shape().cols;
  std::vector<double> room;
  for (Index i = 0; i < of.size() / cols; ++i) {
    const double* row = of.row(i, room);
    if (std::any_of(row, row + cols, holds)) return true;
  }
  return false;
}

bool hides(const Tensor& mask) {
  return any_entry(mask, [](double number) { return number == minus_infinity; });
}

}  // namespace

std::optional<Tensor> keep_of(const Plan& plan) {
  Shape shape;
  std::vector<std::shared_ptr<const Tensor>> hiding;
  for (const Value& value : plan.values) {
    if (value.step == StepId::masked) shape.rows = value.shape.rows, shape.cols = value.shape.cols;
    if (value.role != Value::Role::mask || !hides(*value.constant)) continue;
    hiding.push_back(value.constant);
    shape.batch = std::max(shape.batch, value.shape.batch);
    shape.heads = std::max(shape.heads, value.shape.heads);
  }
  if (hiding.empty()) return std::nullopt;
  return by_rule(shape, [shape, hiding](Index row, double* to) {
    std::fill_n(to, shape.cols, 1.0);
    each_hidden_key(hiding, shape, row, [&](Index key) { to[key] = 0; });
  });
}

bool can_be_cached(const Plan& plan) {
  const std::optional<Tensor> keep = keep_of(plan);
  std::vector<double> room;
  bool looks_back = keep.has_value();
  for (Index i = 0; looks_back && i < keep->size() / keep->shape().cols; ++i) {
    const double *row = keep->row(i, room), *end = row + keep->shape().cols;
    looks_back = std::find(row + std::min(i % keep->shape().rows + 1, keep->shape().cols), end, 1.0) == end;
  }
  return looks_back;
}

Tensor choose(const Tensor& keep, double where_kept, double where_hidden) {
  return changed(std::make_shared<const Tensor>(keep), [=](double kept) { return kept == 1 ? where_kept : where_hidden; });
}

std::vector<ValueId> unhidden_terms(PlanEditor& edit) {
  const std::vector<ValueId> sum = edit.step(StepId::masked).in;
  std::vector<ValueId> terms{sum.front()};
  for (std::size_t i = 1; i < sum.size(); ++i) {
    const Value& mask = edit.operand(sum[i]);
    if (!hides(*mask.constant)) {
      terms.push_back(sum[i]);
      continue;
    }
    const auto is_added = [](double number) { return number != 0 && number != minus_infinity; };
    if (!any_entry(*mask.constant, is_added)) continue;
    const auto rest = [](double number) { return number == minus_infinity ? 0 : number; };
    terms.push_back(edit.constant(mask.symbol + "′", changed(mask.constant, rest)));
  }
  return terms;
}

ValueId unhidden_scores(PlanEditor& edit) {
  const std::vector<ValueId> terms = unhidden_terms(edit);
  return terms.size() == 1 ? terms.front() : edit.insert({Op::add, StepId::masked, terms});
}

void mask_by_product(PlanEditor& edit, const Tensor& keep) {
  const ValueId scores = unhidden_scores(edit);
  const ValueId factor = edit.constant("keep", keep);
  edit.replace({Op::multiply, StepId::masked, {scores, factor}});
}

}  // namespace mha::study
