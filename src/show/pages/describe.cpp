// The order of the page: what is given, then head by head, then the heads together; item by item in a batch.
#include "show/pages/describe.hpp"

#include <algorithm>

#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"

namespace mha::show {
namespace {

// The sections of one layer of one item.
enum class Phase { before, packed, head, together, mlp, end };

Phase phase_of(StepId step) {
  if (is_packed(step)) return Phase::packed;
  if (name_of(step).per_head) return Phase::head;
  if (step == StepId::norm) return Phase::before;
  if (step == StepId::final_norm) return Phase::end;
  return step >= StepId::mlp_norm ? Phase::mlp : Phase::together;
}

// One item of the batch.
class ItemPage {
 public:
  ItemPage(const Scenes& layers, PageBuilder& page) : layers_(layers), page_(page) {}

  void add(Index item) {
    const Scene& first = layers_.front();
    if (first.problem.batched) add_item_heading(first, item);
    if (first.options.selection.has(StepId::X)) add_inputs(first, {item, 0}, page_);
    for (const Scene& scene : layers_) add_layer(scene, item);
    add_phase(layers_.back(), Phase::end, {item, 0}, {page_.say(phrase::behind_all_layers)});
  }

 private:
  void add_layer(const Scene& scene, Index item) {
    if (scene.is_stack() && std::any_of(scene.plan.steps.begin(), scene.plan.steps.end(), [&](const Step& step) {
          return scene.has(step) && phase_of(step.id) != Phase::end;
        })) {
      page_.section({layer_heading(scene), input_symbol(scene) + " → " + result_symbol(scene)}, Section::Level::item);
      add_layer_facts(scene, page_);
    }
    const Place place{item, 0};
    add_phase(scene, Phase::before, place, {page_.say(phrase::before_the_heads)});
    add_phase(scene, Phase::packed, place, {page_.say(phrase::all_heads_at_once)});
    for (Index head = 0; head < scene.problem.heads; ++head)
      if (scene.options.selection.has_head(head))
        add_phase(scene, Phase::head, {item, head}, head_heading(scene.problem, head));
    add_phase(scene, Phase::together, place, {page_.say(phrase::heads_together)});
    add_phase(scene, Phase::mlp, place, {page_.say(phrase::each_token_by_itself)});
  }

  Words layer_heading(const Scene& scene) const {
    return page_.say(phrase::layer_of, page_.counted(scene.layer), scene.whole.layer_count());
  }

  void add_item_heading(const Scene& scene, Index item) {
    const auto chosen = scene.options.chosen_item.value_or(PageOptions::ChosenItem{item, scene.problem.batch()});
    page_.section({page_.say(phrase::item_of, page_.counted(chosen.item), chosen.count)}, Section::Level::item);
  }

  std::vector<Words> head_heading(const Problem& problem, Index head) const {
    std::vector<Words> parts{page_.say(phrase::head_of, page_.counted(head), problem.heads)};
    if (!problem.head_names.empty())
      if (const std::string& name = problem.head_names[static_cast<std::size_t>(head)]; !name.empty())
        parts.push_back(Words().quote(name));
    if (problem.kv_heads < problem.heads)
      parts.emplace_back(page_.say(phrase::uses_kv_head, page_.counted(broadcast(head, problem.kv_heads, problem.heads))));
    return parts;
  }

  // A section for the chosen steps of this phase, if there are any.
  void add_phase(const Scene& scene, Phase phase, Place place, std::vector<Words> heading) {
    bool headed = false;
    int number = 0;
    for (const Step& step : scene.plan.steps) {
      ++number;
      if (!scene.has(step) || phase_of(step.id) != phase) continue;
      if (!headed && scene.is_stack() && phase != Phase::end) heading.insert(heading.begin(), layer_heading(scene));
      if (!headed) page_.section(heading);
      headed = true;
      if (step.id == StepId::scores && !scene.plan.past.empty()) add_cache(scene, place, page_);
      add_step(scene, step, number, place, page_);
    }
  }

  const Scenes& layers_;
  PageBuilder& page_;
};

}  // namespace

void add_item(const Scenes& layers, Index item, PageBuilder& page) {
  ItemPage(layers, page).add(item);
}

Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  const Scenes layers = scenes_of(problem, plan, trace, options);
  PageBuilder page(options.language, options.index_base);
  add_header(layers, page);
  for (Index item = 0; item < problem.batch(); ++item) add_item(layers, item, page);
  return page.take();
}

}  // namespace mha::show
