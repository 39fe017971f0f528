// Layers of a model, each in the order in which its parts depend on one another.
#include "io/model/model_import.hpp"

#include <fmt/ranges.h>

#include <tuple>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

// Those whose tensors may be named so.
std::vector<const Family*> families_with(Names names) {
  std::vector<const Family*> result;
  for (const Family& family : families) {
    const bool otherwise = family.name == "plain" ? names == Names::plain_joined || names == Names::plain_out
                                                  : family.names == Names::torch_packed && names == Names::torch_apart;
    if (family.names == names || otherwise) result.push_back(&family);
  }
  return result;
}

using TypesOfFamilies = std::map<std::string_view, const Family*>;  // by model_type

[[noreturn]] void refuse_unsaid_family(const std::vector<std::string_view>& names, const TypesOfFamilies& types,
                                       const std::optional<Configured<std::string>>& type, bool configured) {
  if (type)
    throw Error({"{} is {} in config.json, which is none that mha knows with tensors of these names ({}); if it attends as "
                 "one of them does, say which: --family {}",
                 "config.json 的 {1} 是 {0}，mha "
                 "不认识张量名称如此（{2}）的这种模型；如果它的注意力与其中某一种相同，请说明是哪一种：--family {3}"},
                type->key, quote(type->value), listed(column_of(types, &TypesOfFamilies::value_type::first)),
                fmt::join(names, "|"));
  if (names.size() > 1)
    throw Error({"several families name their tensors q_proj, k_proj, v_proj and o_proj, and {} says which this is; say it "
                 "with --family {}, and --rope-base, --window, --softcap and --scale where they are not the usual ones",
                 "有几个系列的张量都叫 q_proj、k_proj、v_proj 和 o_proj，而{}说明是哪一个；请用 --family {} "
                 "指定，不是通常值时再加 --rope-base、--window、--softcap 和 --scale"},
                configured ? Text{"no model_type in config.json", "config.json 没有 model_type 来"}
                           : Text{"no config.json beside them", "旁边没有 config.json 来"},
                fmt::join(names, "|"));
  throw Error(
      {"these tensors are named as in many modules, and the names do not say how they attend; where it is plain "
       "attention, without a mask and positions, say --family plain",
       "许多模块都这样命名张量，名称没有说明怎样作注意力；如果是没有掩码和位置的普通注意力，请写 --family plain"});
}

// The family and what says so.
std::pair<const Family*, Saying> find_family(const AttentionPlace& place, const ModelConfig& config,
                                             const std::optional<std::string>& said) {
  const std::vector<const Family*> fitting = families_with(place.names);
  const std::vector<std::string_view> names = column_of(fitting, &Family::name);
  TypesOfFamilies types;
  for (const Family* family : fitting)
    for (const std::string_view type : family->model_types)
      if (!type.empty()) types[type] = family;
  const auto type = types.empty() ? std::nullopt : config.text("model_type");
  const Family* const configured = type && types.contains(type->value) ? types[type->value] : nullptr;
  if (said) {
    const auto* const family =
        std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.name == *said; });
    if (family == families.end())
      throw Error({"--family '{}': no family is called so.{}", "--family '{}'：没有叫这个名称的模型系列。{}"}, *said,
                  did_you_mean_or_known(*said, column_of(families, &Family::name)));
    if (std::find(fitting.begin(), fitting.end(), family) == fitting.end())
      throw Error({"--family {}: the tensors of this layer are not named as those of {}; with these names it is one of {}",
                   "--family {}：这一层的张量名称不是 {} 的；这样的名称属于 {} 之一"},
                  *said, family->title, listed(names));
    if (configured != nullptr && configured != family)
      throw Error({"--family {} contradicts {} in config.json, which is {}; leave the option out, or import from a folder "
                   "without that file",
                   "--family {} 与 config.json 的 {}（{}）矛盾；请去掉这个选项，或从没有该文件的文件夹导入"},
                  *said, type->key, quote(type->value));
    return {family, named_so("--family")};
  }
  if (configured != nullptr) return {configured, in_config(type->key)};
  if (type || names.size() > 1 || names.front() == "plain") refuse_unsaid_family(names, types, type, config.given());
  return {fitting.front(), Saying{"by the names of its tensors", "由张量名称得出"}};
}

// Biases that the config speaks of are there, and those that it denies are not.
void check_biases(const ImportedLayer& layer, const ModelConfig& config) {
  const ProjectionPlaces* const places[] = {&layer.tensors.q, layer.block != nullptr ? &layer.around.first : nullptr};
  for (std::size_t i = 0; i < layer.family->bias_keys.size(); ++i) {
    if (places[i] == nullptr || layer.family->bias_keys[i].empty()) continue;
    const auto said = config.boolean(layer.family->bias_keys[i]);
    if (!said || said->value == places[i]->b.has_value()) continue;
    const std::string weight = escape(places[i]->W.tensor, 200);
    throw Error({"{} in config.json is {}, but {} tensor \"{}.bias\"; they are not of one model",
                 "config.json 的 {} 是 {}，但{}张量“{}.bias”；它们不属于同一个模型"},
                said->key, said->value, said->value ? Text{"there is no", "没有"} : Text{"there is a", "有"},
                weight.substr(0, weight.rfind('.')));
  }
}

// Keys and values come from an input of their own where the person says so, and where they are of another width.
bool is_cross(const ImportedLayer& layer, bool said) {
  if (said && (layer.block != nullptr || layer.rules.causal || layer.place.names == Names::gpt2))
    throw Error({"--x-kv: this {} of {} is self-attention; its keys come from X, so leave the option out",
                 "--x-kv：{1}的这个{0}是自注意力，键来自 X；请去掉这个选项"},
                layer.block != nullptr ? Text{"block", "块"} : Text{"attention", "注意力"}, layer.family->title);
  return said || layer.tensors.k.W.in != layer.tensors.q.W.in;
}

// One of the layers that are meant, and what of it mha does not compute.
ImportedLayer find_layer(ModelFiles& model, const ModelConfig& config, const ImportOptions& options,
                         const LayerChoice& choice, std::vector<FoundPart>& parts) {
  ImportedLayer layer;
  layer.place = choose_attention(model, choice);
  std::tie(layer.family, layer.family_from) = find_family(layer.place, config, options.family);
  if (options.block) layer.block = layer.family->block;
  if (options.block && layer.block == nullptr)
    throw Error({"--block, --layers: mha knows no block around {}; without them its attention alone is imported",
                 "--block、--layers：mha 不知道{}周围的块；不写这两个选项则只导入注意力"},
                layer.family->title);
  for (FoundPart& part : find_parts(model, layer.place, layer.block)) add_part(parts, std::move(part));
  return layer;
}

void complete(ImportedLayer& layer, ModelFiles& model, const ModelConfig& config, const ImportOptions& options) {
  layer.tensors = locate_tensors(model, layer.place);
  if (layer.block != nullptr) {
    layer.around = locate_block(model, layer.place.layer_prefix(), *layer.block, layer.tensors);
    layer.block_rules = find_block_rules(*layer.block, config);
  }
  check_biases(layer, config);
  layer.heads = count_heads(layer.tensors, names_of(layer.place.names).grouped, config, options.heads);
  layer.rules = find_rules(*layer.family, config, options.rules, layer.place.layer, layer.heads.d_k.value);
}

// Behind the last layer: no other is there, nor does the config count more.
void find_final_norm(Imported& found, ModelFiles& model, const ModelConfig& config) {
  const ImportedLayer& last = found.layers.back();
  const auto count = config.count({"num_hidden_layers", "n_layer", "num_layers"});
  if (last.block->final_norm.empty() || (count && last.place.layer != count->value - 1)) return;
  for (const AttentionPlace& place : find_attentions(model))
    if (pattern_of(place.prefix) == pattern_of(last.place.prefix) && place.layer > last.place.layer) return;
  const std::string name = without_last(without_last(last.place.layer_prefix())) + std::string(last.block->final_norm);
  if (model.has(name + ".weight"))
    found.final_norm = locate_norm(model, name, last.tensors.o.W.out, last.block->norm.kind == Norm::Kind::layer);
  else
    found.missing_norm = name + ".weight";
}

Imported import_from(ModelFiles& model, const ModelConfig& config, const ImportOptions& options) {
  Imported found;
  found.stack = !options.layers.empty();
  if (!found.stack) found.layers.push_back(find_layer(model, config, options, options.layer, found.ignored));
  for (const Index layer : options.layers)
    found.layers.push_back(find_layer(model, config, options, {layer, options.layer.prefix}, found.ignored));
  if (found.layers.size() > 1 && found.layers[1].place.prefix == found.first().place.prefix)
    throw Error({"--layers: the names of the tensors do not say which layer they are of, so there is only one",
                 "--layers：张量名称没有说明属于哪一层，因此只有一层"});
  refuse_unknown_names(found.ignored, options.ignored);
  refuse_parts(found.ignored, options.ignored);
  for (ImportedLayer& layer : found.layers) {
    complete(layer, model, config, options);
    refuse_parts(layer.rules.parts, options.ignored);
    for (FoundPart& part : layer.rules.parts) add_part(found.ignored, part);
  }
  found.cross = is_cross(found.first(), options.cross);
  if (found.stack) find_final_norm(found, model, config);
  found.files = model.files();
  if (config.given()) found.files.push_back(config.path());
  return found;
}

}  // namespace

Imported import_layers(const std::string& path, const ImportOptions& options) {
  ModelFiles model(path);
  const ModelConfig config(model.folder());
  return under_name(config.path(), [&] { return import_from(model, config, options); });
}

}  // namespace mha::io
