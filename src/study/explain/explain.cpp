// Walks a plan backwards from an entry; what is told of each entry comes from its Spelling.
#include "study/explain/explain.hpp"

#include <map>
#include <set>
#include <tuple>

#include "core/error.hpp"
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

}  // namespace

namespace {

ValueId value_of(const Plan& plan, const EntryRange& range) {
  return range.gradient ? *range.gradient : plan.find(range.step, range.layer).value();
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

}  // namespace mha::study
