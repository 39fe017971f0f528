// One attention of a model, in the order in which its parts depend on one another, and what is said of it.
#include "io/model/model_import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

bool fits(const Family& family, Names names) {
  if (family.name == "plain" && (names == Names::plain_joined || names == Names::plain_out)) return true;
  return family.names == names || (family.names == Names::torch_packed && names == Names::torch_apart);
}

std::vector<std::string_view> names_of_families(Names names) {
  std::vector<std::string_view> result;
  for (const Family& family : families)
    if (fits(family, names)) result.push_back(family.name);
  return result;
}

std::vector<std::string_view> model_types_of(Names names) {
  std::vector<std::string_view> result;
  for (const Family& family : families)
    for (const std::string_view type : family.model_types)
      if (fits(family, names) && !type.empty()) result.push_back(type);
  return result;
}

const Family* family_of_type(Names names, std::string_view type) {
  for (const Family& family : families)
    if (fits(family, names) &&
        std::find(family.model_types.begin(), family.model_types.end(), type) != family.model_types.end())
      return &family;
  return nullptr;
}

const Family& family_called(const std::string& name, Names names) {
  for (const Family& family : families) {
    if (family.name != name) continue;
    if (fits(family, names)) return family;
    throw Error({"--family {}: the tensors of this layer are not named as those of {}; with these names it is one of {}",
                 "--family {}：这一层的张量名称不是 {} 的；这样的名称属于 {} 之一"},
                name, family.title, listed(names_of_families(names)));
  }
  throw Error({"--family '{}': no family is called so.{}", "--family '{}'：没有叫这个名称的模型系列。{}"}, name,
              did_you_mean_or_known(name, column_of(families, &Family::name)));
}

// The family and what says so.
std::pair<const Family*, Saying> find_family(const AttentionPlace& place, const ModelConfig& config,
                                             const std::optional<std::string>& said) {
  const auto type = config.text("model_type");
  const Family* const configured = type && !type->value.empty() ? family_of_type(place.names, type->value) : nullptr;
  if (said) {
    const Family& family = family_called(*said, place.names);
    if (configured != nullptr && configured != &family)
      throw Error({"--family {} contradicts {} in config.json, which is {}; leave the option out, or import from a folder "
                   "without that file",
                   "--family {} 与 config.json 的 {}（{}）矛盾；请去掉这个选项，或从没有该文件的文件夹导入"},
                  *said, type->key, quote(type->value));
    return {&family, named_so("--family")};
  }
  if (configured != nullptr) return {configured, in_config(type->key)};
  const std::vector<std::string_view> names = names_of_families(place.names);
  if (type && !model_types_of(place.names).empty())
    throw Error({"{} is {} in config.json, which is none that mha knows with tensors of these names ({}); if it attends as "
                 "one of them does, say which: --family {}",
                 "config.json 的 {1} 是 {0}，mha "
                 "不认识张量名称如此（{2}）的这种模型；如果它的注意力与其中某一种相同，请说明是哪一种：--family {3}"},
                type->key, quote(type->value), listed(model_types_of(place.names)), fmt::join(names, "|"));
  if (names.size() > 1)
    throw Error({"several families name their tensors q_proj, k_proj, v_proj and o_proj, and {} says which this is; say it "
                 "with --family {}, and --rope-base, --window, --softcap and --scale where they are not the usual ones",
                 "有几个系列的张量都叫 q_proj、k_proj、v_proj 和 o_proj，而{}说明是哪一个；请用 --family {} "
                 "指定，不是通常值时再加 --rope-base、--window、--softcap 和 --scale"},
                config.given() ? Text{"no model_type in config.json", "config.json 没有 model_type 来"}
                               : Text{"no config.json beside them", "旁边没有 config.json 来"},
                fmt::join(names, "|"));
  if (names.front() == "plain")
    throw Error(
        {"these tensors are named as in many modules, and the names do not say how they attend; where it is plain "
         "attention, without a mask and positions, say --family plain",
         "许多模块都这样命名张量，名称没有说明怎样作注意力；如果是没有掩码和位置的普通注意力，请写 --family plain"});
  return {&family_called(std::string(names.front()), place.names), Saying{"by the names of its tensors", "由张量名称得出"}};
}

// A bias that the config speaks of is there, and one that it denies is not.
void check_biases(const AttentionTensors& tensors, const ModelConfig& config) {
  const auto said = config.boolean("attention_bias");
  if (!said || said->value == tensors.q.b.has_value()) return;
  const std::string weight = escape(tensors.q.W.tensor, 200);
  const std::string bias = weight.substr(0, weight.rfind('.')) + ".bias";
  throw Error({"{} in config.json is {}, but {} tensor \"{}\"; they are not of one model",
               "config.json 的 {} 是 {}，但{}张量“{}”；它们不属于同一个模型"},
              said->key, said->value, said->value ? Text{"there is no", "没有"} : Text{"there is a", "有"}, bias);
}

// Keys and values come from an input of their own where the person says so, and where they are of another width.
bool is_cross(const ImportedAttention& found, bool said) {
  if (said && (found.rules.causal || found.place.names == Names::gpt2))
    throw Error({"--x-kv: this attention of {} is self-attention; its keys come from X, so leave the option out",
                 "--x-kv：{}的这个注意力是自注意力，键来自 X；请去掉这个选项"},
                found.family->title);
  return said || found.tensors.k.W.in != found.tensors.q.W.in;
}

ImportedAttention import_from(ModelFiles& model, const ModelConfig& config, const ImportOptions& options) {
  ImportedAttention found;
  found.place = choose_attention(model, options.layer);
  found.ignored = find_parts(model, found.place);
  refuse_unknown_names(found.ignored, options.ignored);
  refuse_parts(found.ignored, options.ignored);
  std::tie(found.family, found.family_from) = find_family(found.place, config, options.family);
  found.tensors = locate_tensors(model, found.place);
  if (found.place.names == Names::projections) check_biases(found.tensors, config);
  found.heads = count_heads(found.tensors, config, options.heads);
  found.rules = find_rules(*found.family, config, options.rules, found.place.layer, found.heads.d_k);
  refuse_parts(found.rules.parts, options.ignored);
  for (FoundPart& part : found.rules.parts) {
    const bool seen =
        std::any_of(found.ignored.begin(), found.ignored.end(), [&](const FoundPart& p) { return p.name == part.name; });
    if (!seen) found.ignored.push_back(part);
  }
  found.cross = is_cross(found, options.cross);
  found.files = model.files();
  if (config.given()) found.files.push_back(config.path());
  return found;
}

Saying layer_of(const ImportedAttention& found) {
  return found.place.layer ? say({"layer {}", "第 {} 层"}, *found.place.layer) : Saying{};
}

Saying heads_of(const HeadCounts& heads) {
  Saying words = say({"{} ({}) of d_k {} ({})", "{}（{}），d_k = {}（{}）"}, counted(heads.heads, "head"), heads.heads_from,
                     heads.d_k, heads.d_k_from);
  if (heads.kv_heads == heads.heads) return words;
  return say({"{} on {} ({})", "{}，{}（{}）"}, words, counted(heads.kv_heads, "key/value head"), heads.kv_heads_from);
}

}  // namespace

ImportedAttention import_attention(const std::string& path, const ImportOptions& options) {
  ModelFiles model(path);
  const ModelConfig config(model.folder());
  return under_name(config.path(), [&] { return import_from(model, config, options); });
}

Saying account_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found);
  const std::string prefix = found.place.prefix.empty() ? "" : escape(found.place.prefix, 200) + "*";
  std::vector<Saying> words = {say({"{} ({})", "{}（{}）"}, found.family->title, found.family_from)};
  if (!layer.en.empty() && !prefix.empty())
    words.push_back(say({"{}: {}", "{}：{}"}, layer, prefix));
  else
    words.push_back(layer.en.empty() ? named_so(prefix) : layer);
  words.push_back(found.tensors.out_by_in ? Saying{"weights out×in", "权重矩阵按“输出×输入”存放"}
                                          : Saying{"weights in×out", "权重矩阵按“输入×输出”存放"});
  words.push_back(heads_of(found.heads));
  const AttentionRules& rules = found.rules;
  words.insert(words.end(), {rules.scale_said, rules.mask_said, rules.softcap_said, rules.rope_said});
  for (const FoundPart& part : found.ignored)
    words.push_back(say({"without {} ({}, {})", "不含 {}（{}，{}）"}, part.name, part.what, part.seen_as));
  Saying all = words.front();
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!words[i].en.empty()) all = say({"{}; {}", "{}；{}"}, all, words[i]);
  return all;
}

Caption title_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found);
  const Saying title = layer.en.empty() ? say(found.family->title) : say({"{}, {}", "{}，{}"}, found.family->title, layer);
  return {title.en, title.zh, true};
}

Caption description_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found);
  Saying text = say(
      {"The attention of {}{}. X is what the attention module receives{}; the output is before the residual connection "
       "and before any norm behind it.",
       "{1}{0}的注意力。X 是注意力模块接收到的输入{2}；输出是残差连接和其后归一化之前的结果。"},
      layer.en.empty() ? layer : say({"{}, counted from 0, of ", " {}（从 0 数起）"}, layer), found.family->title,
      found.family->after_norm ? Saying{": the tokens after the norm in front of it", "，即经过它前面的归一化之后的词元"}
                               : Saying{});
  if (!found.place.prefix.empty())
    text = say({"{} Its tensors begin with \"{}\".", "{}张量名以“{}”开头。"}, text, found.place.prefix);
  for (const FoundPart& part : found.ignored)
    text = say({"{} Not computed here, though the model has it: {} ({}), so the numbers are not those of the model.",
                "{}模型具有而此处不计算：{}（{}），因此数值与该模型不同。"},
               text, part.name, part.what);
  return {text.en, text.zh, true};
}

}  // namespace mha::io
