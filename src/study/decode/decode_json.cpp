// Decoding in files: each step in the form of a trace.
#include "io/json/writer.hpp"
#include "io/problem/problem_writer.hpp"
#include "study/decode/decode.hpp"
#include "study/table/steps_csv.hpp"

namespace mha::study {
namespace {

// The step's trace with a column for each key so far: −∞, or weight 0, for what a window has dropped.
Trace with_dropped_keys(const DecodedStep& step) {
  Trace trace = step.trace;
  for (std::size_t id = 0; id < trace.values.size(); ++id) {
    const Value& value = step.plan.values[id];
    const Index dropped = dropped_columns(step, value);
    if (dropped == 0) continue;
    const auto wide = std::make_shared<Tensor>(Shape{1, value.shape.heads, value.shape.rows, dropped + value.shape.cols});
    wide->fill(value.step == StepId::weights ? 0 : show::minus_infinity);
    for_each_entry(value.shape, [&](Entry at) {
      const double number = trace.values[id]->at(at);
      at.column += dropped;
      wide->at(at) = number;
    });
    trace.values[id] = wide;
  }
  return trace;
}

// Of a stack for each layer.
void write_caches(io::JsonWriter& json, const Decoding& decoding, bool stack) {
  json.begin_object("cache");
  if (stack) json.begin_array("layers");
  for (std::size_t i = 0; i < decoding.kept.size(); i += 2) {
    if (stack) json.begin_object(), json.integer("layer", static_cast<Index>(i / 2 + 1));
    json.begin_array("heads");
    for (Index head = 0; head < decoding.kept[i].shape().heads; ++head) {
      json.begin_object();
      json.integer("kv_head", head + 1);
      for (const auto& [name, cache] : {std::pair("K", &decoding.kept[i]), std::pair("V", &decoding.kept[i + 1])}) {
        const Shape& shape = cache->shape();  // perhaps without rows
        json.key(name);
        json.matrix(cache->data() + head * shape.rows * shape.cols, shape.rows, shape.cols, decoding.run.dtype);
      }
      json.end();
    }
    json.end();
    if (stack) json.end();
  }
  if (stack) json.end();
  json.end();
}

}  // namespace

void write_decoding_csv(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection) {
  selection.steps[static_cast<std::size_t>(StepId::X)] = false;  // given, not computed
  sink.write(steps_csv_header);
  for (const DecodedStep& step : decoding.steps)
    write_steps_csv(sink, problem, step.plan, with_dropped_keys(step), selection, step.first);
}

void write_decoding(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection) {
  selection.steps[static_cast<std::size_t>(StepId::X)] = false;  // given, not computed
  io::JsonWriter json(sink);
  json.begin_file("mha-decode");
  io::write_config(json, problem);
  json.begin_array("steps");
  for (const DecodedStep& step : decoding.steps) {
    json.begin_object();
    json.integer("first", step.first + 1);
    json.integer("count", step.count);
    io::write_computed(json, problem, step.plan, with_dropped_keys(step), selection, false);
    json.end();
  }
  json.end();
  write_caches(json, decoding, !problem.layers.empty());
  json.begin_object("cost");
  for (const auto& [name, work] :
       {std::pair("projected_tokens", decoding.projected_tokens), std::pair("multiply_adds", decoding.multiply_adds)}) {
    json.begin_object(name, io::Spread::line);
    json.integer("cached", work.cached);
    json.integer("anew", work.anew);
    json.end();
  }
  json.integer("cache_numbers", decoding.cache_numbers);
  json.end();
  json.number("difference", decoding.difference);
  json.finish();
}

}  // namespace mha::study
