// The order of the page: what is given, then head by head, then the heads together; item by item in a batch.
#include "show/pages/describe.hpp"

#include <algorithm>

#include "show/pages/facts.hpp"
#include "show/words/phrases.hpp"
#include "show/pages/step_blocks.hpp"

namespace mha::show {
namespace {

// The sections of one item.
enum class Phase { packed, head, together };

Phase phase_of(StepId step) {
  if (is_packed(step)) return Phase::packed;
  return name_of(step).per_head ? Phase::head : Phase::together;
}

class Page {
 public:
  explicit Page(const Scene& scene) : scene_(scene), language_(scene.options.language) {
    document_.language = language_;
    document_.index_base = scene.options.index_base;
  }

  Document describe() {
    add_header(scene_, document_.blocks);
    for (Index item = 0; item < scene_.problem.batch(); ++item) add_item(item);
    return std::move(document_);
  }

 private:
  void add_item(Index item) {
    const Problem& problem = scene_.problem;
    if (problem.batched) add_item_heading(item);
    if (scene_.options.selection.has(StepId::X)) add_inputs(scene_, {item, 0}, document_.blocks);
    add_phase(Phase::packed, {item, 0}, {Words(say(language_, phrase::all_heads_at_once))});
    for (Index head = 0; head < problem.heads; ++head)
      if (scene_.options.selection.has_head(head)) add_phase(Phase::head, {item, head}, head_heading(head));
    add_phase(Phase::together, {item, 0}, {Words(say(language_, phrase::heads_together))});
  }

  void add_item_heading(Index item) {
    const auto chosen = scene_.options.chosen_item.value_or(PageOptions::ChosenItem{item, scene_.problem.batch()});
    add_section(Section::Level::item, {Words(say(language_, phrase::item_of, scene_.counted(chosen.item), chosen.count))});
  }

  std::vector<Words> head_heading(Index head) const {
    const Problem& problem = scene_.problem;
    std::vector<Words> parts{Words(say(language_, phrase::head_of, scene_.counted(head), problem.heads))};
    if (!problem.head_names.empty())
      if (const std::string& name = problem.head_names[static_cast<std::size_t>(head)]; !name.empty())
        parts.push_back(Words().quote(name));
    if (problem.kv_heads < problem.heads)
      parts.emplace_back(
          say(language_, phrase::uses_kv_head, scene_.counted(broadcast(head, problem.kv_heads, problem.heads))));
    return parts;
  }

  void add_section(Section::Level level, std::vector<Words> parts) {
    document_.blocks.emplace_back(Section{level, std::move(parts)});
  }

  // A section for the chosen steps of this phase, if there are any.
  void add_phase(Phase phase, Place place, const std::vector<Words>& heading) {
    bool headed = false;
    int number = 0;
    for (const Step& step : scene_.plan.steps) {
      ++number;
      if (phase_of(step.id) != phase || !scene_.options.selection.has(step.id)) continue;
      if (!headed) add_section(Section::Level::head, heading);
      headed = true;
      add_step(scene_, step, number, place, document_.blocks);
    }
  }

  const Scene& scene_;
  Language language_;
  Document document_;
};

}  // namespace

Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  const Scene scene(problem, plan, trace, options);
  return Page(scene).describe();
}

}  // namespace mha::show
