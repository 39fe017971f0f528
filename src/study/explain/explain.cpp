// Walks a plan backwards from an entry; what is told of each entry comes from its Spelling. And as JSON.
#include "study/explain/explain.hpp"

#include <map>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "io/json/writer.hpp"
#include "show/words/notation.hpp"

namespace mha::study {
namespace {

constexpr int most_in_tree = 20000;  // in one tree: more are read by nobody

Depth one_less(Depth depth) {
  return depth ? Depth(*depth - 1) : std::nullopt;
}

void mark_behind(const Plan& plan, ValueId id, Depth depth, std::vector<bool>& marked) {
  if (marked[static_cast<std::size_t>(id)] && !depth) return;
  marked[static_cast<std::size_t>(id)] = true;
  const Step* step = plan.writer_of(id);
  if (step == nullptr || depth == 0) return;
  for (const ValueId operand : step->in) mark_behind(plan, operand, one_less(depth), marked);
}

// One tree.
class Explainer {
 public:
  explicit Explainer(const show::Scenes& layers) : layers_(layers) {}

  Explanation explain(ValueId id, show::Place place, show::EntryAt at, Depth depth) {
    if (++entries_ > most_in_tree)
      throw Error({"more than {} entries lie behind this one; a smaller --depth shows the nearest",
                   "这个元素背后有超过 {} 个元素；较小的 --depth 只显示最近的"},
                  most_in_tree);
    const show::Scene& scene = show::scene_of(layers_, id);
    if (scene.plan.value(id).shape.heads == 1) place.head = 0;  // in this layer, whatever it was in a later one
    Explanation result{id, place, at, show::full_entry(scene, id, place, at), show::number_at(scene, id, place, at),
                       {}, false, {}};
    const Step* step = scene.plan.writer_of(id);
    if (step == nullptr || depth == 0) return result;
    const show::Scene& where = layers_[static_cast<std::size_t>(step->layer)];  // a gradient's own layer may come before
    if (!told_.insert({id, place.item, show::own_head(scene, id, place.head), at.row, at.column}).second) {
      result.explained_before = true;
      return result;
    }
    const show::Spelling& spelling = spelling_of(where, *step, place);
    result.derivation = derivation(where, *step, spelling, place, at);
    if (depth == 1) return result;
    for (const show::ReadEntry& read : spelling.entries_read(at))
      if (const ValueId operand = step->in[read.operand]; scene.plan.value(operand).role != Value::Role::constant)
        result.operands.push_back(explain(operand, read.place, read.at, one_less(depth)));
    return result;
  }

 private:
  const show::Spelling& spelling_of(const show::Scene& scene, const Step& step, show::Place place) {
    const std::tuple key{step.out, place.item, place.head};
    auto found = spellings_.find(key);
    if (found == spellings_.end()) found = spellings_.emplace(key, show::Spelling::of(scene, step, place).value()).first;
    return found->second;
  }

  static Derivation derivation(const show::Scene& scene, const Step& step, const show::Spelling& spelling,
                               show::Place place, show::EntryAt at) {
    Derivation result{&step,
                      show::formula(scene, step, place),
                      spelling.spell_in_full(at),
                      spelling.summands(at),
                      {},
                      spelling.maximum(at),
                      spelling.head_shares(at)};
    double sum = 0;
    for (const show::Summand& summand : result.summands) result.sums.push_back(sum += summand.value);
    return result;
  }

  const show::Scenes& layers_;
  std::map<std::tuple<ValueId, Index, Index>, show::Spelling> spellings_;
  std::set<std::tuple<ValueId, Index, Index, Index, Index>> told_;
  int entries_ = 0;
};

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
    json_.text("step", value.step ? std::string(name_of(*value.step).id) : value.symbol);
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
    const auto write_line = [this](const show::Work::Line& line) {
      json_.text("relation", line.relation);
      json_.text("expression", line.expression);
      if (!line.remark.empty()) json_.text("remark", line.remark.plain());
    };
    json_.objects("work", work.lines, write_line, io::Spread::line);
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

ValueId value_of(const Plan& plan, const EntryRange& range) {
  return range.value ? *range.value : plan.find(range.step, range.layer).value();
}

}  // namespace

std::vector<bool> values_behind(const Plan& plan, const EntryRange& range, Depth depth) {
  std::vector<bool> marked(plan.values.size(), false);
  mark_behind(plan, value_of(plan, range), depth, marked);
  return marked;
}

std::vector<Explanation> explain(const show::Scenes& layers, const EntryRange& range, Depth depth) {
  const Plan& plan = layers.front().plan;
  const ValueId id = value_of(plan, range);
  const Shape& shape = plan.value(id).shape;
  std::vector<Explanation> all;
  for (Index row = range.row.value_or(0); row < (range.row ? *range.row + 1 : shape.rows); ++row)
    for (Index column = range.column.value_or(0); column < (range.column ? *range.column + 1 : shape.cols); ++column)
      all.push_back(Explainer(layers).explain(id, {0, range.head}, {row, column}, depth));
  return all;
}

void write_explanations(io::Sink& sink, const show::Scenes& layers, const std::vector<Explanation>& entries) {
  ExplanationWriter(sink, layers).write(entries);
}

}  // namespace mha::study
