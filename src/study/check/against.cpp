// Takes each step of a trace again on the CPU and finds where the two are farthest apart.
#include "study/check/against.hpp"

#include "compute/engine.hpp"
#include "study/check/exactness.hpp"

namespace mha::study {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

template <typename T>
constexpr FloatingPoint arithmetic_of = {std::numeric_limits<T>::epsilon(), std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()};

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Heads that are shared by a group of query heads go by the first of them.
Entry place_of(Index at, const Shape& shape, Index query_heads) {
  const Index column = at % shape.cols, row = at / shape.cols % shape.rows;
  const Index matrix = at / (shape.cols * shape.rows), head = matrix % shape.heads;
  return {matrix / shape.heads, head * query_heads / shape.heads, row, column};
}

ComparedStep compared(StepTaker& cpu_steps, const Step& step, const Trace& trace, Index query_heads) {
  std::vector<Uncertain> operands;
  for (const ValueId id : step.in) operands.push_back({trace.values[static_cast<std::size_t>(id)], nullptr});
  const Tensor& device = *trace.value(step.out);
  const std::shared_ptr<const Tensor> cpu = cpu_steps.result(step, operands);
  const FloatingPoint& arithmetic = trace.dtype == Dtype::f32 ? arithmetic_of<float> : arithmetic_of<double>;
  const std::shared_ptr<const Tensor> bound = cpu_steps.radius(step, operands, *cpu, arithmetic);
  const auto entry = [&](Index i) {
    return ComparedEntry{place_of(i, device.shape(), query_heads), device.data()[i], cpu->data()[i],
                         bound ? bound->data()[i] : 0};
  };
  const Value& value = cpu_steps.plan().value(step.out);
  const std::string gradient = value.gradient == Value::Gradient::none ? "" : value.symbol;
  ComparedStep result{step.id, gradient, value.per_head, entry(0), entry(0), entry(0)};
  for (Index i = 1; i < device.size(); ++i) {
    const ComparedEntry here = entry(i);
    if (here.absolute() > result.absolute.absolute()) result.absolute = here;
    if (here.relative() > result.relative.relative()) result.relative = here;
    if (here.share() > result.share.share()) result.share = here;
  }
  return result;
}

}  // namespace

double ComparedEntry::absolute() const {
  if (same(device, cpu)) return 0;
  const double difference = std::abs(device - cpu);
  return std::isnan(difference) ? unbounded : difference;
}

double ComparedEntry::relative() const {
  const double difference = absolute();
  return difference == 0 ? 0 : cpu == 0 || !std::isfinite(difference) ? unbounded : difference / std::abs(cpu);
}

double ComparedEntry::share() const {
  const double difference = absolute();
  if (difference == 0 || bound == unbounded) return 0;
  return bound == 0 || !std::isfinite(difference) ? unbounded : difference / bound;
}

std::vector<ComparedStep> against_cpu(const Plan& plan, const Trace& trace) {
  assert(!trace.rounding);
  const RowPlan rows(plan);
  StepTaker cpu(rows, compute::workers_for(plan, {}));
  const Index query_heads = plan.value(plan.find(StepId::weights).value()).shape.heads;
  std::vector<ComparedStep> steps;
  for (const Step& step : rows.plan.steps) steps.push_back(compared(cpu, step, trace, query_heads));
  return steps;
}

}  // namespace mha::study
