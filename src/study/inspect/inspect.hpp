// What an attention layer looks like from outside: how its heads differ, where each looks, what is lost without it; and the
// part of a layer that follows its heads.
#pragma once

#include "compute/engine.hpp"
#include "io/files/sink.hpp"
#include "show/pages/scene.hpp"

namespace mha::study {

// What the steps behind head_output compute, up to the one that computes `last`. Constants that they do not read are left
// out.
inline Trace behind_heads(const Plan& whole, int layer, Tensor head_outputs, ValueId last) {
  Plan plan = whole;
  const ValueId heads = *plan.find(StepId::head_output, layer);
  const auto behind = [&](ValueId id) { return plan.steps.begin() + (plan.writer_of(id) + 1 - plan.steps.data()); };
  plan.steps.erase(behind(last), plan.steps.end());
  plan.steps.erase(plan.steps.begin(), behind(heads));
  compute::RunOptions options;
  options.whole = &whole;
  options.keep.assign(plan.values.size(), false);
  std::vector<bool> read = options.keep;
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.in) read[static_cast<std::size_t>(id)] = true;
    options.keep[static_cast<std::size_t>(step.out)] = true;
  }
  for (std::size_t id = 0; id < read.size(); ++id)
    if (!read[id]) plan.values[id].constant.reset();
  plan.values[static_cast<std::size_t>(heads)].constant = std::make_shared<const Tensor>(std::move(head_outputs));
  return compute::run(plan, options);
}

// Nothing where there is nothing to measure: no row has a key, or Y is 0.
using Measured = std::optional<double>;

// Means over the rows that have a key, of all items of a batch; self, previous, first: the weight on these keys, nothing in
// cross-attention. Then what is lost without the head, b_O staying: of an entry of Y, and ‖Y − Y without‖ / ‖Y‖
// (Frobenius).
enum Measure : std::size_t { entropy, largest_weight, self, previous, first_key, largest_change, relative_change };
struct HeadMeasure {
  std::string_view key;
  Text title;
};
inline constexpr std::array head_measures = {HeadMeasure{"entropy", {"entropy", "熵"}},
                                             HeadMeasure{"largest_weight", {"largest", "最大"}},
                                             HeadMeasure{"self", {"itself", "自己"}},
                                             HeadMeasure{"previous", {"previous", "前一个"}},
                                             HeadMeasure{"first", {"first", "第一个"}},
                                             HeadMeasure{"largest_change", {"change", "改变"}},
                                             HeadMeasure{"relative_change", {"relative", "相对"}}};

struct HeadLook {
  std::array<Measured, head_measures.size()> measured;
  Measured most_entropy;   // what it were if each row looked alike at all the keys that it may look at
  double part_of_W_O = 1;  // the largest |entry| of its rows of W_O, by the largest of all
  Tensor without;          // Y without this head
};

struct PairLook {
  Index first, second;                             // heads, from 0
  Measured weights_difference;                     // the largest, over the rows that have a key in both
  std::vector<std::string_view> same_projections;  // "W_Q": equal numbers, or one key/value head for both
};

// A claim, the numbers behind its colon, how far it goes.
struct FindingKind {
  std::string_view id;
  bool structure;  // these come first; the others are what may be read from them
  Text claim, numbers, limits;

  using Part = std::string_view;
  constexpr FindingKind(Part name, bool of_structure, Part claim_en, Part claim_zh, Part numbers_en, Part numbers_zh,
                        Part limits_en = "", Part limits_zh = "")
      : id(name),
        structure(of_structure),
        claim{claim_en, claim_zh},
        numbers{numbers_en, numbers_zh},
        limits{limits_en, limits_zh} {}
};

// About a layer, or about several: each number the least and the largest of the layers.
struct LayerFinding {
  const FindingKind* kind;
  std::string claim;
  std::vector<std::array<double, 2>> numbers;
};
std::string sentence_of(const LayerFinding& finding, const show::PageOptions& options);

struct LayerLook {
  const Problem* layer;
  std::vector<HeadLook> heads;
  std::vector<PairLook> pairs;  // (1, 2), (1, 3), …, (2, 3), …
  std::vector<LayerFinding> findings;
};
std::vector<LayerFinding> findings_of(const LayerLook& look, const show::PageOptions& options);

struct Inspection {
  std::vector<std::vector<LayerLook>> problems;
  LayerLook all;  // what is so in every layer; of a pair the largest difference, and what is the same in all
};
// The problems must outlive the result. Of the options, language and index base count. `computed` is told what was computed
// of each.
using Computed = std::function<void(const Problem& problem, const Plan& plan, const Trace& trace)>;
Inspection inspect(const std::vector<Problem>& problems, const show::PageOptions& options, const Computed& computed);

show::Document describe(const Inspection& inspection, const std::vector<Problem>& problems,
                        const show::PageOptions& options);
void write_inspection(io::Sink& sink, const Inspection& inspection, const std::vector<Problem>& problems,
                      const show::PageOptions& options);

}  // namespace mha::study
