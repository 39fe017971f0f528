// Sums up what the one counter of steps says.
#include "study/cost/cost.hpp"

#include "compute/cost.hpp"

namespace mha::study {
namespace {

void add(Index& sum, Index number, Index times = 1) {
  sum = compute::exact_sum(sum, compute::exact_product({number, times}));
}

void add(Totals& sum, const Totals& own, Index times = 1) {
  for (const Figure& figure : figures) add(sum.*figure.number, own.*figure.number, times);
}

bool is_cached(StepId step, bool rotated) {
  return step == StepId::V || step == (rotated ? StepId::K_rot : StepId::K);
}

Totals totals_of(const Problem& layer, const StepCost& cost, const NumberType& type) {
  const StepId id = cost.step->id;
  Totals totals{cost.multiply_adds, cost.exponentials, id == StepId::weights ? cost.bytes : 0, cost.bytes, 0};
  if (is_cached(id, layer.rope.has_value()))
    totals.cache_bytes_per_token = compute::exact_product({cost.shape.heads, cost.shape.cols, type.bytes});
  return totals;
}

Index parameters_of(const std::optional<NormRule>& norm) {
  return !norm ? 0 : (norm->gamma ? norm->gamma->size() : 0) + (norm->beta ? norm->beta->size() : 0);
}

Parameters parameters_of(const Problem& problem, const Plan& plan, int layer) {
  Parameters parameters;
  for (const Value& value : plan.values) {
    if (value.layer != layer || value.role != Value::Role::weight) continue;
    const Shape& shape = value.shape;
    parameters.matrices.emplace_back(value.symbol, compute::exact_product({shape.heads, shape.rows, shape.cols}));
    add(parameters.total, parameters.matrices.back().second);
  }
  for (const Value& value : plan.values)
    if (value.layer == layer && value.role == Value::Role::bias && value.symbol.starts_with("b_"))
      add(parameters.biases, value.shape.size());
  parameters.norms = parameters_of(problem.norm) + parameters_of(problem.mlp_norm);
  add(parameters.total, parameters.biases);
  add(parameters.total, parameters.norms);
  return parameters;
}

}  // namespace

std::shared_ptr<const Cost> cost_of(Problem problem, const NumberType& type, std::optional<Index> layers) {
  const auto cost = std::make_shared<Cost>();
  cost->problem = std::move(problem);
  cost->plan = make_plan(cost->problem);
  cost->type = type;
  cost->layer_count = layers.value_or(cost->problem.layer_count());
  cost->has_all_layers = layers || !cost->problem.layers.empty();
  cost->layers.resize(static_cast<std::size_t>(cost->problem.layer_count()));
  for (const Step& step : cost->plan.steps) {
    const compute::Count count = compute::count_of(cost->plan, step);
    const StepCost own{&step, cost->plan.value(step.out).shape, count.multiply_adds, count.exponentials,
                       compute::exact_product({count.numbers, type.bytes})};
    const Totals totals = totals_of(cost->problem.layer(step.layer), own, type);
    if (step.id == StepId::final_norm) {
      add(cost->all, totals);
      continue;
    }
    LayerCost& layer = cost->layers[static_cast<std::size_t>(step.layer)];
    layer.steps.push_back(own);
    add(layer.totals, totals);
  }
  const Index times = cost->is_alike() ? cost->layer_count : 1;
  for (std::size_t i = 0; i < cost->layers.size(); ++i) {
    const int number = static_cast<int>(i);
    cost->layers[i].parameters = parameters_of(cost->problem.layer(number), cost->plan, number);
    add(cost->all, cost->layers[i].totals, times);
    add(cost->all_parameters, cost->layers[i].parameters.total, times);
  }
  add(cost->all_parameters, parameters_of(cost->problem.final_norm));
  return cost;
}

}  // namespace mha::study
