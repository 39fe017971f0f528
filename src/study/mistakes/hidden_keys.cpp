// A mask is a sum of −∞, which hides, and of other numbers, which do not.
#include "study/mistakes/hidden_keys.hpp"

#include <algorithm>

namespace mha::study {
namespace {

bool hides(const Tensor& mask) {
  return std::count(mask.data(), mask.data() + mask.size(), minus_infinity) > 0;
}

}  // namespace

std::optional<Tensor> keep_of(const Plan& plan) {
  Shape shape;
  std::vector<const Tensor*> hiding;
  for (const Value& value : plan.values) {
    if (value.step == StepId::masked) shape.rows = value.shape.rows, shape.cols = value.shape.cols;
    if (value.role != Value::Role::mask || !hides(*value.constant)) continue;
    hiding.push_back(value.constant.get());
    shape.batch = std::max(shape.batch, value.shape.batch);
    shape.heads = std::max(shape.heads, value.shape.heads);
  }
  if (hiding.empty()) return std::nullopt;
  Tensor keep(shape);
  for_each_entry(shape, [&](const Entry& entry) {
    const auto lets = [&](const Tensor* mask) { return mask->spread(shape, entry) != minus_infinity; };
    keep.at(entry) = std::all_of(hiding.begin(), hiding.end(), lets) ? 1 : 0;
  });
  return keep;
}

Tensor choose(const Tensor& keep, double where_kept, double where_hidden) {
  Tensor result(keep.shape());
  for (Index i = 0; i < keep.size(); ++i) result.data()[i] = keep.data()[i] == 1 ? where_kept : where_hidden;
  return result;
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
    Tensor rest = *mask.constant;
    std::replace(rest.data(), rest.data() + rest.size(), minus_infinity, 0.0);
    const bool adds_nothing = std::count(rest.data(), rest.data() + rest.size(), 0.0) == rest.size();
    if (!adds_nothing) terms.push_back(edit.constant(mask.symbol + "′", std::move(rest)));
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
