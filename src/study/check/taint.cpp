// How something wrong spreads: from every operand to the heads of the result that read it.
#include "study/check/taint.hpp"

#include <algorithm>

namespace mha::study {
namespace {

// Which of `from` heads serves this one of `to`.
std::size_t serving_head(std::size_t head, std::size_t from, std::size_t to) {
  return static_cast<std::size_t>(broadcast(static_cast<Index>(head), static_cast<Index>(from), static_cast<Index>(to)));
}

}  // namespace

Taint::Taint(const RowPlan& rows) : rows_(rows) {
  for (const Value& value : rows.plan.values) heads_.emplace_back(static_cast<std::size_t>(value.shape.heads), false);
}

bool Taint::has(StepId step, std::size_t head) const {
  const std::vector<bool>& heads = heads_[static_cast<std::size_t>(*rows_.value(step))];
  return head < heads.size() && heads[head];
}

void Taint::add(StepId step, std::size_t head) {
  std::vector<bool>& heads = heads_[static_cast<std::size_t>(*rows_.value(step))];
  if (head < heads.size()) heads[head] = true;
}

void Taint::spread_to(StepId step) {
  for (const Step& computed : rows_.plan.steps)
    if (computed.id == step) spread(computed);
}

void Taint::spread(const Step& step) {
  std::vector<bool>& out = heads_[static_cast<std::size_t>(step.out)];
  for (const ValueId id : step.in) {
    const std::vector<bool>& in = heads_[static_cast<std::size_t>(id)];
    if (std::find(in.begin(), in.end(), true) == in.end()) continue;
    const bool merged = in.size() > out.size();
    for (std::size_t head = 0; head < out.size(); ++head)
      out[head] = out[head] || merged || in[serving_head(head, in.size(), out.size())];
  }
}

}  // namespace mha::study
