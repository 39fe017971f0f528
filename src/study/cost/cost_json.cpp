// Costs and published shapes as JSON.

#include "io/json/writer.hpp"
#include "study/cost/cost_page.hpp"

namespace mha::study {
namespace {

void write_totals(io::JsonWriter& json, std::string_view key, const Totals& totals) {
  json.begin_object(key);
  for (const Figure& figure : figures) json.integer(figure.key, totals.*figure.number);
  json.end();
}

void write_members(io::JsonWriter& json, const Cost& cost, std::string_view model) {
  const Problem& layer = cost.problem.layer(0);
  json.begin_object("config");
  if (!model.empty()) json.text("model", model);
  json.integer("batch", layer.batch());
  json.integer("tokens", layer.queries());
  json.integer("keys", layer.keys());
  json.integer("d_model", layer.d_model());
  json.integer("d_kv", layer.d_kv());
  json.integer("heads", layer.heads);
  json.integer("kv_heads", layer.kv_heads);
  json.integer("d_k", layer.d_k());
  json.integer("d_v", layer.d_v());
  json.integer("d_out", layer.d_out());
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
  json.begin_array("steps");
  for (const StepCost& step : cost.first().steps) {
    json.begin_object(io::Spread::line);
    json.text("step", name_of(step.step->id).id);
    json.integers("shape", std::array{step.shape.batch, step.shape.heads, step.shape.rows, step.shape.cols});
    json.integer("multiply_adds", step.multiply_adds);
    json.integer("exponentials", step.exponentials);
    json.integer("bytes", step.bytes);
    json.end();
  }
  json.end();
  write_totals(json, "totals", cost.first().totals);
  if (cost.has_all_layers) write_totals(json, "all_layers", cost.all);
}

}  // namespace

void write_cost(io::Sink& sink, const Cost& cost, std::string_view model, std::string_view others_key,
                const std::vector<OtherCost>& others) {
  io::JsonWriter json(sink);
  json.begin_file("mha-cost");
  write_members(json, cost, model);
  if (!others.empty()) {
    json.begin_array(others_key);
    for (const OtherCost& other : others) {
      json.begin_object();
      json.text("change", other.change);
      write_members(json, *other.cost, model);
      json.end();
    }
    json.end();
  }
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
