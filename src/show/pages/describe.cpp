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

// Of the layers of one item.
class Sections {
 public:
  Sections(PageBuilder& page, Index item, const AddStep& add_step) : page_(page), item_(item), add_step_(add_step) {}

  void add_layer(const Scene& scene) {
    if (scene.is_stack() && std::any_of(scene.plan.steps.begin(), scene.plan.steps.end(), [&](const Step& step) {
          return scene.has(step) && phase_of(step.id) != Phase::end;
        })) {
      page_.section({layer_heading(scene), input_symbol(scene) + " → " + result_symbol(scene)}, Section::Level::item);
      add_layer_facts(scene, page_);
    }
    add_phase(scene, Phase::before, 0, {page_.say(phrase::before_the_heads)});
    add_phase(scene, Phase::packed, 0, {page_.say(phrase::all_heads_at_once)});
    for (Index head = 0; head < scene.problem.heads; ++head)
      if (scene.options.selection.has_head(head)) add_phase(scene, Phase::head, head, head_heading(scene.problem, head));
    add_phase(scene, Phase::together, 0, {page_.say(phrase::heads_together)});
    add_phase(scene, Phase::mlp, 0, {page_.say(phrase::each_token_by_itself)});
  }

  // A section for the chosen steps of this phase, if there are any.
  void add_phase(const Scene& scene, Phase phase, Index head, std::vector<Words> heading) {
    bool headed = false;
    int number = 0;
    for (const Step& step : scene.plan.steps) {
      ++number;
      if (!scene.has(step) || phase_of(step.id) != phase) continue;
      if (!headed && scene.is_stack() && phase != Phase::end) heading.insert(heading.begin(), layer_heading(scene));
      if (!headed) page_.section(heading);
      headed = true;
      add_step_(scene, step, number, {item_, head});
    }
  }

 private:
  Words layer_heading(const Scene& scene) const {
    return page_.say(phrase::layer_of, page_.counted(scene.layer), scene.whole.layer_count());
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

  PageBuilder& page_;
  Index item_;
  const AddStep& add_step_;
};

void add_item_heading(const Scene& scene, Index item, PageBuilder& page) {
  const auto chosen = scene.options.chosen_item.value_or(PageOptions::ChosenItem{item, scene.problem.batch()});
  page.section({page.say(phrase::item_of, page.counted(chosen.item), chosen.count)}, Section::Level::item);
}

}  // namespace

void add_sections(const Scenes& layers, Index item, PageBuilder& page, const AddStep& add_step) {
  Sections sections(page, item, add_step);
  for (const Scene& scene : layers) sections.add_layer(scene);
  sections.add_phase(layers.back(), Phase::end, 0, {page.say(phrase::behind_all_layers)});
}

void add_item(const Scenes& layers, Index item, PageBuilder& page) {
  const Scene& first = layers.front();
  if (first.problem.batched) add_item_heading(first, item, page);
  if (first.options.selection.has(StepId::X)) add_inputs(first, {item, 0}, page);
  add_sections(layers, item, page, [&](const Scene& scene, const Step& step, int number, Place place) {
    if (step.id == StepId::scores && !scene.plan.past.empty()) add_cache(scene, place, page);
    add_step(scene, step, number, place, page);
  });
}

Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  const Scenes layers = scenes_of(problem, plan, trace, options);
  PageBuilder page(options.language, options.index_base);
  add_header(layers, page);
  for (Index item = 0; item < problem.batch(); ++item) add_item(layers, item, page);
  return page.take();
}

}  // namespace mha::show
