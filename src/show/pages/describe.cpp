// The order of the page: what is given, then head by head, then the heads together; item by item in a batch.
#include "show/pages/describe.hpp"

#include "show/pages/facts.hpp"
#include "show/pages/step_blocks.hpp"

namespace mha::show {
namespace {

// The sections of one item.
enum class Phase { packed, head, together };

Phase phase_of(StepId step) {
  if (is_packed(step)) return Phase::packed;
  return name_of(step).per_head ? Phase::head : Phase::together;
}

class RunPage {
 public:
  explicit RunPage(const Scene& scene) : scene_(scene), page_(scene.options.language, scene.options.index_base) {}

  Document describe() {
    add_header(scene_, page_);
    for (Index item = 0; item < scene_.problem.batch(); ++item) add_item(item);
    return page_.take();
  }

 private:
  void add_item(Index item) {
    const Problem& problem = scene_.problem;
    if (problem.batched) add_item_heading(item);
    if (scene_.options.selection.has(StepId::X)) add_inputs(scene_, {item, 0}, page_);
    add_phase(Phase::packed, {item, 0}, {page_.say(phrase::all_heads_at_once)});
    for (Index head = 0; head < problem.heads; ++head)
      if (scene_.options.selection.has_head(head)) add_phase(Phase::head, {item, head}, head_heading(head));
    add_phase(Phase::together, {item, 0}, {page_.say(phrase::heads_together)});
  }

  void add_item_heading(Index item) {
    const auto chosen = scene_.options.chosen_item.value_or(PageOptions::ChosenItem{item, scene_.problem.batch()});
    page_.section({page_.say(phrase::item_of, page_.counted(chosen.item), chosen.count)}, Section::Level::item);
  }

  std::vector<Words> head_heading(Index head) const {
    const Problem& problem = scene_.problem;
    std::vector<Words> parts{page_.say(phrase::head_of, page_.counted(head), problem.heads)};
    if (!problem.head_names.empty())
      if (const std::string& name = problem.head_names[static_cast<std::size_t>(head)]; !name.empty())
        parts.push_back(Words().quote(name));
    if (problem.kv_heads < problem.heads)
      parts.emplace_back(page_.say(phrase::uses_kv_head, page_.counted(broadcast(head, problem.kv_heads, problem.heads))));
    return parts;
  }

  // A section for the chosen steps of this phase, if there are any.
  void add_phase(Phase phase, Place place, const std::vector<Words>& heading) {
    bool headed = false;
    int number = 0;
    for (const Step& step : scene_.plan.steps) {
      ++number;
      if (phase_of(step.id) != phase || !scene_.options.selection.has(step.id)) continue;
      if (!headed) page_.section(heading);
      headed = true;
      add_step(scene_, step, number, place, page_);
    }
  }

  const Scene& scene_;
  PageBuilder page_;
};

}  // namespace

Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  const Scene scene(problem, plan, trace, options);
  return RunPage(scene).describe();
}

}  // namespace mha::show
