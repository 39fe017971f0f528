// What a problem costs, as a page and as JSON; and the shapes of its steps.
#pragma once

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/document.hpp"
#include "study/cost/cost.hpp"
#include "study/cost/sizes.hpp"

namespace mha::study {

// One with other sizes, beside it: what was changed, "heads=1".
struct OtherCost {
  std::string change;
  std::shared_ptr<const Cost> cost;
};

show::Document cost_page(const Cost& cost, Language language);
// One other: figure by figure; several: a line for each.
show::Document cost_comparison(const Cost& cost, const std::vector<OtherCost>& others, Language language);

// `model` is empty where there is none. The others stand under `others_key`.
void write_cost(io::Sink& sink, const Cost& cost, std::string_view model, std::string_view others_key,
                const std::vector<OtherCost>& others);

show::Document models_page(Language language);
void write_models(io::Sink& sink);

// With labels, the entries of Q have names instead (a1, a2, … in head 1, b1, … in head 2) and stand where the split puts
// them: an Error where there are too many to be looked at.
show::Document shapes_page(const Problem& problem, bool labels, Language language);

}  // namespace mha::study
