// The order of the page: what is given, then head by head, then the heads together; item by item in a batch.
#include "show/pages/page_parts.hpp"

#include <map>

#include "show/words/notation.hpp"

namespace mha::show {
namespace {

// The sections of one layer of one item; of the backward pass the first ones are its last.
enum class Phase { before, packed, head, together, mlp, end, parameters };

Phase phase_of(StepId step) {
  if (is_packed(step)) return Phase::packed;
  if (name_of(step).per_head) return Phase::head;
  if (step == StepId::norm) return Phase::before;
  if (step == StepId::final_norm) return Phase::end;
  return step >= StepId::mlp_norm ? Phase::mlp : Phase::together;
}

Phase phase_of(const Scene& scene, const Step& step) {
  if (!scene.plan.is_backward(step)) return phase_of(step.id);
  const Value &value = scene.plan.value(step.out), &of = scene.plan.value(value.of);
  if (!of.step && of.role != Value::Role::input) return Phase::parameters;
  if (value.per_head) return Phase::head;
  if (of.step && is_packed(*of.step)) return Phase::packed;
  const Phase phase = phase_of(step.id);
  return phase == Phase::head || phase == Phase::packed ? Phase::before : phase;  // what comes out of them
}

bool is_backward(const Plan& plan) {
  return plan.is_backward(plan.steps.back());
}

// Of the layers of one item.
class Sections {
 public:
  Sections(const Scenes& layers, PageBuilder& page, Index item, const AddStep& add_step)
      : layers_(layers), page_(page), item_(item), add_step_(add_step) {
    number_steps();
  }

  void add_layer(const Scene& scene) {
    if (scene.is_stack() && std::any_of(scene.plan.steps.begin(), scene.plan.steps.end(), [&](const Step& step) {
          return scene.has(step) && !scene.plan.is_backward(step) && phase_of(scene, step) != Phase::end;
        })) {
      page_.section({layer_heading(scene), input_symbol(scene) + " → " + result_symbol(scene)}, Section::Level::item);
      add_layer_facts(scene, page_);
    }
    add_phase(scene, Phase::before, 0, {page_.say({"Before the heads", "进入各头之前"})});
    add_phase(scene, Phase::packed, 0, {page_.say(phrase::all_heads_at_once)});
    for (Index head = 0; head < scene.problem.heads; ++head)
      if (scene.options.selection.has_head(head)) add_phase(scene, Phase::head, head, head_heading(scene.problem, head));
    add_phase(scene, Phase::together, 0, {page_.say(phrase::heads_together)});
    add_phase(scene, Phase::mlp, 0, {page_.say(phrase::each_token_by_itself)});
  }

  void add_backward() {
    shows_backward_ = true;
    add_phase(layers_.back(), Phase::end, 0, {page_.say(phrase::behind_all_layers)});
    for (auto scene = layers_.rbegin(); scene != layers_.rend(); ++scene) {
      add_phase(*scene, Phase::mlp, 0, {page_.say(phrase::each_token_by_itself)});
      add_phase(*scene, Phase::together, 0, {page_.say(phrase::heads_together)});
      for (Index head = 0; head < scene->problem.heads; ++head)
        if (scene->options.selection.has_head(head))
          add_phase(*scene, Phase::head, head, head_heading(scene->problem, head));
      add_phase(*scene, Phase::packed, 0, {page_.say(phrase::all_heads_at_once)});
      add_phase(*scene, Phase::before, 0, {page_.say({"Back at the input", "回到输入"})});
    }
  }

  // Behind all items, which share them.
  void add_parameters() {
    shows_backward_ = true;
    for (auto scene = layers_.rbegin(); scene != layers_.rend(); ++scene)
      add_phase(*scene, Phase::parameters, 0, {page_.say({"Gradients of the parameters", "各参数的梯度"})});
  }

  // A section for the chosen steps of this phase, if there are any.
  void add_phase(const Scene& scene, Phase phase, Index head, std::vector<Words> heading) {
    bool headed = false;
    for (const Step& step : scene.plan.steps) {
      if (!scene.has(step) || phase_of(scene, step) != phase) continue;
      if (scene.plan.is_backward(step) != shows_backward_ || waits_for_group(scene, step, {item_, head})) continue;
      if (!headed && scene.is_stack() && phase != Phase::end) heading.insert(heading.begin(), layer_heading(scene));
      if (!headed) page_.section(heading);
      headed = true;
      add_in_places(scene, step, numbers_.at(step.out), {item_, head});
    }
  }

 private:
  // In the order of the page, from 1: of the backward pass layer after layer from the last one, all parameters at the end.
  void number_steps() {
    const Plan& plan = layers_.front().plan;
    const bool forward_told = !is_backward(plan) || layers_.front().options.selection.has(StepId::X);
    constexpr std::array order = {Phase::end, Phase::mlp, Phase::together, Phase::head, Phase::packed, Phase::before};
    const auto rank = [&](const Step* step) {
      const Scene& scene = layers_[static_cast<std::size_t>(step->layer)];
      const Phase phase = phase_of(scene, *step);
      const auto at = std::find(order.begin(), order.end(), phase) - order.begin();
      return std::pair(phase == Phase::parameters, std::pair(-step->layer, at));
    };
    std::vector<const Step*> steps;
    for (const Step& step : plan.steps)
      if (!plan.is_backward(step) && forward_told) steps.push_back(&step);
    const auto forward = static_cast<std::ptrdiff_t>(steps.size());
    for (const Step& step : plan.steps)
      if (plan.is_backward(step)) steps.push_back(&step);
    std::stable_sort(steps.begin() + forward, steps.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
    for (const Step* step : steps) numbers_.emplace(step->out, static_cast<int>(numbers_.size()) + 1);
  }

  Words layer_heading(const Scene& scene) const {
    return page_.say(phrase::layer_of, page_.counted(scene.layer), scene.whole.layer_count());
  }

  std::vector<Words> head_heading(const Problem& problem, Index head) const {
    std::vector<Words> parts{page_.say({"Head {} of {}", "头 {}（共 {} 个）"}, page_.counted(head), problem.heads)};
    if (!problem.head_names.empty())
      if (const std::string& name = problem.head_names[static_cast<std::size_t>(head)]; !name.empty())
        parts.push_back(Words().quote(name));
    if (problem.kv_heads < problem.heads)
      parts.emplace_back(page_.say(phrase::uses_kv_head, page_.counted(broadcast(head, problem.kv_heads, problem.heads))));
    return parts;
  }

  // What query heads share is summed in the last of them; parameters stand apart.
  static bool waits_for_group(const Scene& scene, const Step& step, Place place) {
    const auto later = [&](Index head) {
      return own_head(scene, step.out, head) == own_head(scene, step.out, place.head) &&
             scene.options.selection.has_head(head);
    };
    if (!scene.plan.is_backward(step) || phase_of(scene, step) != Phase::head) return false;
    for (Index head = place.head + 1; head < scene.problem.heads; ++head)
      if (later(head)) return true;
    return false;
  }

  // A parameter's gradient once for each of its heads, a part of one for each item as well.
  void add_in_places(const Scene& scene, const Step& step, int number, Place place) {
    const Value& value = scene.plan.value(step.out);
    if (phase_of(scene, step) != Phase::parameters) return add_step_(scene, step, number, place);
    for (Index item = 0; item < value.shape.batch; ++item)
      for (Index own = 0; own < value.shape.heads; ++own)
        if (const Place at = place_of_head(scene, step.out, item, own);
            scene.options.selection.has_head(at.head) && !scene.plan.is_absent(value.of, own))
          add_step_(scene, step, number, at);
  }

  const Scenes& layers_;
  PageBuilder& page_;
  Index item_;
  const AddStep& add_step_;
  bool shows_backward_ = false;
  std::map<ValueId, int> numbers_;  // of each step, by its result
};

void add_item_heading(const Scene& scene, Index item, PageBuilder& page) {
  const auto chosen = scene.options.chosen_item.value_or(PageOptions::ChosenItem{item, scene.problem.batch()});
  page.section({page.say(phrase::item_of, page.counted(chosen.item), chosen.count)}, Section::Level::item);
}

}  // namespace

void add_sections(const Scenes& layers, Index item, PageBuilder& page, const AddStep& add_step) {
  Sections sections(layers, page, item, add_step);
  for (const Scene& scene : layers) sections.add_layer(scene);
  sections.add_phase(layers.back(), Phase::end, 0, {page.say(phrase::behind_all_layers)});
  if (is_backward(layers.front().plan)) sections.add_backward();
}

void add_parameters(const Scenes& layers, PageBuilder& page, const AddStep& add_step) {
  if (is_backward(layers.front().plan)) Sections(layers, page, 0, add_step).add_parameters();
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

Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& asked) {
  PageOptions options = asked;
  if (options.sources == PageOptions::Sources::formulas) {
    const bool live = cells_can_compute(problem, plan, trace, options);
    if (live) options.full = true, options.work = PageOptions::Work::none;  // which would not follow the cells
    if (!live) options.sources = PageOptions::Sources::numbers;
  }
  const Scenes layers = scenes_of(problem, plan, trace, options);
  PageBuilder page(options.language, options.index_base);
  add_header(layers, page);
  if (is_backward(plan)) add_loss(layers.front(), page);
  for (Index item = 0; item < problem.batch(); ++item) add_item(layers, item, page);
  const AddStep add = [&](const Scene& scene, const Step& step, int number, Place place) {
    add_step(scene, step, number, place, page);
  };
  add_parameters(layers, page, add);
  return page.take();
}

}  // namespace mha::show
