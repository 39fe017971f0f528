// Whether a layer attends in a sliding window, and its rotary positions. Older models have rope_theta and rope_scaling,
// newer ones rope_parameters, which may hold an object for each type of layer; Gemma 3 once had rope_local_base_freq for
// its layers with a window. The families number their layers from 0.
#include "io/model/model_layers.hpp"

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr Index default_pattern = 6;  // Gemma 3: five layers with a window, one without

LayerType type_listed(const Node& types, std::optional<Index> layer) {
  const List& list = expect<List>(types, {"a list of texts", "文本的列表"});
  if (list.empty()) fail(types, {"found [], expected the type of each layer", "这里是 []，应为每一层的类型"});
  const Index number = expect_layer(layer, {"the type of attention depends on the layer (layer_types in config.json)",
                                            "注意力的种类取决于层（config.json 的 layer_types）"});
  if (number >= static_cast<Index>(list.size()))
    fail(types, {"it has {}, and this is layer {}, counted from 0", "其中有 {}，而这是第 {} 层（从 0 数起）"},
         counted(static_cast<Index>(list.size()), "layer"), number);
  const Node& node = list[static_cast<std::size_t>(number)];
  const std::string& type = expect_text(node);
  LayerType result{type == "sliding_attention", in_config(node.path), {}};
  if (!result.sliding && type != "full_attention") result.other = part_in_config("layer_type", node);
  return result;
}

// Qwen: the layers from max_window_layers on, and only where use_sliding_window says so.
LayerType by_qwen(const ModelConfig& config, std::optional<Index> layer) {
  const auto used = config.boolean("use_sliding_window");
  if (!used || !used->value)
    return {false,
            used ? in_config("use_sliding_window") : Saying{"no use_sliding_window", "config.json 没有 use_sliding_window"},
            {}};
  const Node* first = config.value("max_window_layers");
  if (first == nullptr)
    throw Error({"{}: use_sliding_window is true, but max_window_layers, from which layer on, is missing",
                 "{}：use_sliding_window 为 true，但缺少 max_window_layers，不知从哪一层开始"},
                config.path());
  const Index number = expect_layer(
      layer, {"only layers from max_window_layers on have a sliding window", "从 max_window_layers 起的层才有滑动窗口"});
  return {number >= expect_integer(*first), in_config("max_window_layers"), {}};
}

LayerType by_pattern(const ModelConfig& config, std::optional<Index> layer) {
  const auto said = config.count({"sliding_window_pattern"});
  const Index pattern = said ? said->value : default_pattern;
  const Index number =
      expect_layer(layer, say({"one layer in {} has no sliding window", "每 {} 层中有一层没有滑动窗口"}, pattern));
  const Saying from = said ? in_config(said->key) : say({"one in {} has none", "每 {} 层中一层没有窗口"}, pattern);
  return {(number + 1) % pattern != 0, from, {}};
}

constexpr std::string_view full_type = "full_attention", sliding_type = "sliding_attention";
constexpr std::string_view local_base = "rope_local_base_freq";

bool is_nested(const Object* parameters) {
  for (const std::string_view type : {full_type, sliding_type})
    if (const Node* node = ModelConfig::value_in(parameters, type); node != nullptr && node->as<Object>() != nullptr)
      return true;
  return false;
}

// The objects that speak of this layer's positions.
std::vector<const Object*> parameters_of(const ModelConfig& config, const LayerType& type) {
  const Object* parameters = config.object("rope_parameters");
  if (!is_nested(parameters)) return {parameters, config.object("rope_scaling")};
  const std::string_view key = type.sliding ? sliding_type : full_type;
  const Node* own = ModelConfig::value_in(parameters, key);
  if (own == nullptr || own->as<Object>() == nullptr)
    throw Error(
        {"{}: rope_parameters has no object {}, which this layer needs", "{}：rope_parameters 没有这一层需要的对象 {}"},
        config.path(), key);
  return {own->as<Object>()};
}

// rope_type, once called type; anything but "default" changes the angles.
void find_scaling(const Object* object, std::vector<FoundPart>& parts) {
  const Node* type = ModelConfig::value_in(object, "rope_type");
  if (type == nullptr) type = ModelConfig::value_in(object, "type");
  if (type == nullptr) type = ModelConfig::value_in(object, "factor");
  if (type == nullptr) return;
  const std::string* text = type->as<std::string>();
  if (text != nullptr && *text == "default") return;
  parts.push_back(part_in_config("rope_scaling", *type));
}

std::optional<Configured<double>> base_in(const ModelConfig& config, const LayerType& type,
                                          const std::vector<const Object*>& objects) {
  if (type.sliding && !is_nested(config.object("rope_parameters")))
    if (auto local = config.number(local_base)) return local;
  std::optional<Configured<double>> found;
  if (!is_nested(config.object("rope_parameters"))) found = config.number("rope_theta");
  for (const Object* object : objects) {
    const auto other = ModelConfig::number_in(object, "rope_theta");
    if (found && other && other->value != found->value)
      throw Error({"{}: {} is {} and {} is {}; they are one thing, so mend the file or say it with --rope-base",
                   "{}：{} 是 {}，而 {} 是 {}；它们是同一个量，请改正文件，或用 --rope-base 指定"},
                  config.path(), found->key, found->value, other->key, other->value);
    if (!found) found = other;
  }
  return found;
}

// How many of the d_k columns turn.
Index turning(const ModelConfig& config, const std::vector<const Object*>& objects, Index d_k) {
  auto factor = config.number("partial_rotary_factor");
  for (const Object* object : objects)
    if (!factor) factor = ModelConfig::number_in(object, "partial_rotary_factor");
  if (!factor) return d_k;
  const auto dims = static_cast<Index>(std::floor(std::clamp(factor->value, 0.0, 2.0) * static_cast<double>(d_k)));
  if (dims < 2 || dims > d_k)
    throw Error({"{}: {} is {}, expected a part of the {} columns of a head", "{}：{} 是 {}，应为一个头 {} 列中的一部分"},
                config.path(), factor->key, factor->value, d_k);
  return dims;
}

}  // namespace

Index expect_layer(std::optional<Index> layer, const Saying& rule) {
  if (layer) return *layer;
  throw Error({"{}, and the names of the tensors do not say which layer this is; say it with --layer",
               "{}，而张量名称没有说明这是哪一层；请用 --layer 指定"},
              rule);
}

LayerType find_layer_type(const Family& family, const ModelConfig& config, std::optional<Index> layer) {
  if (const Node* types = config.value("layer_types")) return type_listed(*types, layer);
  switch (family.window) {
    case WindowRule::never: return {false, {}, {}};
    case WindowRule::every_layer: return {true, {"every layer", "每一层"}, {}};
    case WindowRule::qwen: return by_qwen(config, layer);
    case WindowRule::even_layers:
      return {expect_layer(layer, {"only even layers have a sliding window", "只有偶数层有滑动窗口"}) % 2 == 0,
              {"even layers only", "仅偶数层"},
              {}};
    case WindowRule::pattern: return by_pattern(config, layer);
  }
  return {};
}

bool rope_depends_on_type(const ModelConfig& config) {
  return is_nested(config.object("rope_parameters")) || config.value(local_base) != nullptr;
}

FoundRope find_rope(const ModelConfig& config, std::optional<double> base, const LayerType& type, Index d_k) {
  const std::vector<const Object*> objects = parameters_of(config, type);
  FoundRope found;
  const bool local = type.sliding && config.value(local_base) != nullptr;  // which no scaling concerns
  if (!local || is_nested(config.object("rope_parameters")))
    for (const Object* object : objects) find_scaling(object, found.parts);
  found.rope.dims = turning(config, objects, d_k);
  if (found.rope.dims % 2 != 0)
    throw Error({"rotary positions turn pairs of columns, but a head has {}; these are not the heads of the model",
                 "旋转位置编码使列成对旋转，但一个头有 {}；这不是该模型的头数"},
                found.rope.dims);
  Saying from = {"the default", "默认值"};
  if (base) {
    found.rope.base = *base;
    from = named_so("--rope-base");
  } else if (const auto configured = base_in(config, type, objects)) {
    found.rope.base = configured->value;
    from = in_config(configured->key);
  }
  const bool partly = found.rope.dims != d_k;
  const Saying columns = partly ? say({"the first {}", "前 {}"}, found.rope.dims) : say({"all {}", "全部 {}"}, d_k);
  found.said =
      say({"rope base {} ({}), pairs in the halves of {} columns", "旋转位置编码，底数 {}（{}），{} 列按前后两半配对"},
          found.rope.base, from, columns);
  return found;
}

}  // namespace mha::io
