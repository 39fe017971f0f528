// Writes explanations as JSON. Numbers of heads, rows and columns count from 1, as in all files.
#include "study/explain/explain.hpp"

#include "io/json/writer.hpp"
#include "show/words/notation.hpp"

namespace mha::study {
namespace {

class ExplanationWriter {
 public:
  ExplanationWriter(io::Sink& sink, const show::Scenes& layers)
      : json_(sink), layers_(layers), trace_(layers.front().trace) {}

  void write(const std::vector<Explanation>& entries) {
    json_.begin_file("mha-explanation");
    json_.text("dtype", dtype_name(trace_.dtype));
    if (trace_.rounding) json_.integer("rounding", *trace_.rounding);
    json_.begin_array("entries");
    for (const Explanation& entry : entries) write_entry(entry);
    json_.finish();
  }

 private:
  // As the trace writes it.
  void stored_number(std::string_view key, double value) { json_.number(key, value, trace_.dtype); }

  void write_entry(const Explanation& entry) {
    json_.begin_object();
    json_.text("entry", entry.entry);
    const show::Scene& scene = show::scene_of(layers_, entry.value);
    const Value& value = scene.plan.value(entry.value);
    if (scene.is_stack() && !(value.step && is_of_no_layer(*value.step))) json_.integer("layer", scene.layer + 1);
    if (value.step) json_.text("step", name_of(*value.step).id);
    if (value.gradient != Value::Gradient::none) json_.text("step", value.symbol);
    if (value.per_head) json_.integer("head", entry.place.head + 1);
    json_.integer("row", entry.at.row + 1);
    json_.integer("column", entry.at.column + 1);
    stored_number("value", entry.number);
    if (entry.explained_before) json_.boolean("explained_before", true);
    if (entry.derivation) write_derivation(*entry.derivation);
    if (!entry.operands.empty()) {
      json_.begin_array("operands");
      for (const Explanation& operand : entry.operands) write_entry(operand);
      json_.end();
    }
    json_.end();
  }

  void write_derivation(const Derivation& derivation) {
    json_.text("op", info_of(derivation.step->op).name);
    json_.text("formula", derivation.formula);
    write_work(derivation.work);
    if (derivation.maximum) stored_number("maximum", *derivation.maximum);
    if (!derivation.summands.empty()) write_terms(derivation);
    if (derivation.head_shares.empty()) return;
    json_.key("head_shares");
    json_.row(derivation.head_shares.data(), static_cast<Index>(derivation.head_shares.size()));
  }

  void write_work(const show::Work& work) {
    json_.begin_array("work");
    for (const show::Work::Line& line : work.lines) {
      json_.begin_object(io::Spread::line);
      json_.text("relation", line.relation);
      json_.text("expression", line.expression);
      if (!line.remark.empty()) json_.text("remark", line.remark.plain());
      json_.end();
    }
    json_.end();
  }

  void write_terms(const Derivation& derivation) {
    json_.begin_array("terms");
    for (std::size_t i = 0; i < derivation.summands.size(); ++i) {
      const show::Summand& summand = derivation.summands[i];
      json_.begin_object(io::Spread::line);
      json_.text("names", summand.names);
      json_.text("numbers", summand.numbers);
      json_.begin_array("factors", io::Spread::line);
      for (const show::ReadEntry& read : summand.factors) write_factor(*derivation.step, read);
      json_.end();
      json_.number("value", summand.value);
      json_.number("sum", derivation.sums[i]);
      json_.end();
    }
    json_.end();
  }

  void write_factor(const Step& step, const show::ReadEntry& read) {
    const show::Scene& scene = layers_[static_cast<std::size_t>(step.layer)];
    const ValueId id = step.in[read.operand];
    json_.begin_object(io::Spread::line);
    json_.text("entry", full_entry(scene, id, read.place, read.at));
    stored_number("value", show::number_at(scene, id, read.place, read.at));
    json_.end();
  }

  io::JsonWriter json_;
  const show::Scenes& layers_;
  const Trace& trace_;
};

}  // namespace

void write_explanations(io::Sink& sink, const show::Scenes& layers, const std::vector<Explanation>& entries) {
  ExplanationWriter(sink, layers).write(entries);
}

}  // namespace mha::study
