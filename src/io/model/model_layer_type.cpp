// Whether a layer attends in a sliding window. The families number their layers from 0.
#include "io/model/model_layer_type.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr Index default_pattern = 6;  // Gemma 3: five layers with a window, one without

Index expect_layer(std::optional<Index> layer, std::string_view rule) {
  if (layer) return *layer;
  throw Error(fmt::format("{}, and the names of the tensors do not say which layer this is; say it with --layer", rule));
}

LayerType listed(const Node& types, std::optional<Index> layer) {
  const List* list = types.as<List>();
  if (list == nullptr) fail(types, fmt::format("found {}, expected a list of texts", describe(types)));
  const Index number = expect_layer(layer, "the type of attention depends on the layer (layer_types in config.json)");
  if (number >= static_cast<Index>(list->size()))
    fail(types, fmt::format("it has {}, and this is layer {}, counted from 0",
                            counted(static_cast<Index>(list->size()), "layer"), number));
  const Node& node = (*list)[static_cast<std::size_t>(number)];
  const std::string& type = expect_text(node);
  LayerType result{type == "sliding_attention", in_config(node.path), {}};
  if (!result.sliding && type != "full_attention")
    result.other = part_called("layer_type", fmt::format("{} is {} in config.json", node.path, quote(type)));
  return result;
}

// Qwen: the layers from max_window_layers on, and only where use_sliding_window says so.
LayerType by_qwen(const ModelConfig& config, std::optional<Index> layer) {
  const auto used = config.boolean("use_sliding_window");
  if (!used || !used->value)
    return {false, used ? in_config("use_sliding_window") : Saying{"no use_sliding_window", "没有 use_sliding_window"}, {}};
  const Node* first = config.value("max_window_layers");
  if (first == nullptr)
    throw Error(fmt::format("{}: use_sliding_window is true, but max_window_layers, from which layer on, is missing",
                            config.path()));
  const Index number = expect_layer(layer, "only layers from max_window_layers on have a sliding window");
  return {number >= expect_integer(*first), in_config("max_window_layers"), {}};
}

LayerType by_pattern(const ModelConfig& config, std::optional<Index> layer) {
  const auto said = config.count({"sliding_window_pattern"});
  const Index pattern = said ? said->value : default_pattern;
  const Index number = expect_layer(layer, fmt::format("one layer in {} has no sliding window", pattern));
  const Saying from =
      said ? in_config(said->key)
           : Saying{fmt::format("one in {} has none", pattern), fmt::format("每 {} 层中一层没有窗口", pattern)};
  return {(number + 1) % pattern != 0, from, {}};
}

}  // namespace

LayerType find_layer_type(const Family& family, const ModelConfig& config, std::optional<Index> layer) {
  if (const Node* types = config.value("layer_types")) return listed(*types, layer);
  switch (family.window) {
    case WindowRule::never: return {false, {}, {}};
    case WindowRule::every_layer: return {true, {"every layer", "每一层"}, {}};
    case WindowRule::qwen: return by_qwen(config, layer);
    case WindowRule::even_layers:
      return {expect_layer(layer, "only even layers have a sliding window") % 2 == 0, {"even layers only", "仅偶数层"}, {}};
    case WindowRule::pattern: return by_pattern(config, layer);
  }
  return {};
}

}  // namespace mha::io
