// What a problem costs, counted from the shapes of its plan: nothing is computed. As a page and as JSON; and the shapes of
// its steps.
#pragma once

#include "core/plan.hpp"
#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/document.hpp"
#include "study/cost/sizes.hpp"

namespace mha::study {

struct NumberType {
  std::string_view name;
  Index bytes;
};
inline constexpr std::array number_types = {NumberType{"f64", 8}, NumberType{"f32", 4}, NumberType{"f16", 2},
                                            NumberType{"bf16", 2}};

struct Totals {
  Index multiply_adds = 0, exponentials = 0, weights_bytes = 0, all_steps_bytes = 0, cache_bytes_per_token = 0;
};

struct StepCost {
  const Step* step;
  Shape shape;
  Index multiply_adds, exponentials, bytes;
};

struct Parameters {
  std::vector<std::pair<std::string, Index>> matrices;  // "W_Q", of all heads
  Index biases = 0, norms = 0, total = 0;
};

struct LayerCost {
  std::vector<StepCost> steps;
  Parameters parameters;
  Totals totals;
};

struct Cost {
  Problem problem;
  Plan plan;
  NumberType type;
  Index layer_count = 1;
  bool has_all_layers = false;    // more than one layer, or told how many
  std::vector<LayerCost> layers;  // that are given; one stands for `layer_count`
  Totals all;                     // of all layers, the final norm among them
  Index all_parameters = 0;

  const LayerCost& first() const { return layers.front(); }
  bool is_alike() const { return layers.size() == 1; }
};

// As many layers as the problem has, or one such as it is, so many times.
std::shared_ptr<const Cost> cost_of(Problem problem, const NumberType& type, std::optional<Index> layers = {});

// The figures that are compared: one row each, read by pages and files.
struct Figure {
  std::string_view key;
  Text title;
  Index Totals::*number;
  bool in_bytes;
};
inline constexpr std::array figures = {
    Figure{"multiply_adds", {"multiply-adds", "乘加"}, &Totals::multiply_adds, false},
    Figure{"exponentials", {"exponentials", "指数运算"}, &Totals::exponentials, false},
    Figure{"weights_bytes", {"weights", "权重"}, &Totals::weights_bytes, true},
    Figure{"all_steps_bytes", {"all steps", "所有步骤"}, &Totals::all_steps_bytes, true},
    Figure{"cache_bytes_per_token", {"cache a token", "每词元缓存"}, &Totals::cache_bytes_per_token, true},
};

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
