// The rotary positions of a layer. Older models have rope_theta and rope_scaling, newer ones rope_parameters, which may
// hold an object for each type of layer; Gemma 3 once had rope_local_base_freq for its layers with a window.
#include "io/model/model_rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr std::string_view full = "full_attention", sliding = "sliding_attention";
constexpr std::string_view local_base = "rope_local_base_freq";

bool is_nested(const Object* parameters) {
  for (const std::string_view type : {full, sliding})
    if (const Node* node = ModelConfig::value_in(parameters, type); node != nullptr && node->as<Object>() != nullptr)
      return true;
  return false;
}

// The objects that speak of this layer's positions.
std::vector<const Object*> parameters_of(const ModelConfig& config, const LayerType& type) {
  const Object* parameters = config.object("rope_parameters");
  if (!is_nested(parameters)) return {parameters, config.object("rope_scaling")};
  const std::string_view key = type.sliding ? sliding : full;
  const Node* own = ModelConfig::value_in(parameters, key);
  if (own == nullptr || own->as<Object>() == nullptr)
    throw Error(fmt::format("{}: rope_parameters has no object {}, which this layer needs", config.path(), key));
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
  parts.push_back(part_called("rope_scaling", fmt::format("{} is {} in config.json", type->path,
                                                          text != nullptr ? quote(*text) : describe(*type))));
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
      throw Error(fmt::format("{}: {} is {} and {} is {}; they are one thing, so mend the file or say it with --rope-base",
                              config.path(), found->key, found->value, other->key, other->value));
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
    throw Error(fmt::format("{}: {} is {}, expected a part of the {} columns of a head", config.path(), factor->key,
                            factor->value, d_k));
  return dims;
}

}  // namespace

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
    throw Error(
        fmt::format("rotary positions turn pairs of columns, but a head has {}; these are not the heads of the model",
                    found.rope.dims));
  Saying from = {"the default", "默认值"};
  if (base) {
    found.rope.base = *base;
    from = named_so("--rope-base");
  } else if (const auto configured = base_in(config, type, objects)) {
    found.rope.base = configured->value;
    from = in_config(configured->key);
  }
  if (!(found.rope.base > 0))
    throw Error(fmt::format("the rope base is {} ({}), expected a number above 0", found.rope.base, from.en));
  const bool partly = found.rope.dims != d_k;
  found.said = {fmt::format("rope base {} ({}), pairs in the halves of {} columns", found.rope.base, from.en,
                            partly ? fmt::format("the first {}", found.rope.dims) : fmt::format("all {}", d_k)),
                fmt::format("旋转位置基数 {}（{}），{} 列按前后两半配对", found.rope.base, from.zh,
                            partly ? fmt::format("前 {}", found.rope.dims) : fmt::format("全部 {}", d_k))};
  return found;
}

}  // namespace mha::io
