// Sums up what the one counter of steps says; costs and published shapes as JSON.
#include "study/cost/cost.hpp"

#include "compute/cost.hpp"
#include "io/json/writer.hpp"

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

void write_totals(io::JsonWriter& json, std::string_view key, const Totals& totals) {
  json.begin_object(key);
  for (const Figure& figure : figures) json.integer(figure.key, totals.*figure.number);
  json.end();
}

void write_members(io::JsonWriter& json, const Cost& cost, std::string_view model) {
  const Problem& layer = cost.problem.layer(0);
  json.begin_object("config");
  if (!model.empty()) json.text("model", model);
  for (const auto& [key, size] : {std::pair("batch", layer.batch()),
                                  {"tokens", layer.queries()},
                                  {"keys", layer.keys()},
                                  {"d_model", layer.d_model()},
                                  {"d_kv", layer.d_kv()},
                                  {"heads", layer.heads},
                                  {"kv_heads", layer.kv_heads},
                                  {"d_k", layer.d_k()},
                                  {"d_v", layer.d_v()},
                                  {"d_out", layer.d_out()}})
    json.integer(key, size);
  if (layer.mlp) json.integer("mlp", layer.mlp_width());
  json.integer("layers", cost.layer_count);
  json.text("dtype", cost.type.name);
  json.end();
  json.begin_object("parameters");
  const Parameters& parameters = cost.first().parameters;
  for (const auto& [name, count] : parameters.matrices) json.integer(name, count);
  json.integer("biases", parameters.biases);
  if (parameters.norms > 0) json.integer("norms", parameters.norms);
  json.integer("total", parameters.total);
  json.end();
  const auto write_step = [&](const StepCost& step) {
    json.text("step", name_of(step.step->id).id);
    json.integers("shape", std::array{step.shape.batch, step.shape.heads, step.shape.rows, step.shape.cols});
    json.integer("multiply_adds", step.multiply_adds);
    json.integer("exponentials", step.exponentials);
    json.integer("bytes", step.bytes);
  };
  json.objects("steps", cost.first().steps, write_step, io::Spread::line);
  write_totals(json, "totals", cost.first().totals);
  if (cost.has_all_layers) write_totals(json, "all_layers", cost.all);
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

void write_cost(io::Sink& sink, const Cost& cost, std::string_view model, std::string_view others_key,
                const std::vector<OtherCost>& others) {
  io::JsonWriter json(sink);
  json.begin_file("mha-cost");
  write_members(json, cost, model);
  const auto write_other = [&](const OtherCost& other) {
    json.text("change", other.change);
    write_members(json, *other.cost, model);
  };
  if (!others.empty()) json.objects(others_key, others, write_other);
  json.finish();
}

void write_models(io::Sink& sink) {
  io::JsonWriter json(sink);
  json.begin_array();
  for (const PublishedModel& model : models) {
    json.begin_object();
    json.text("name", model.name);
    json.text("title", model.title);
    json.integer("layers", model.layers);
    json.integer("d_model", model.d_model);
    json.integer("heads", model.heads);
    json.integer("kv_heads", model.kv_heads);
    json.integer("d_k", model.d_k);
    json.text("biases", bias_names[static_cast<std::size_t>(model.biases)]);
    json.text("source", model.source);
    json.end();
  }
  json.finish();
}

}  // namespace mha::study
