// What is said of an imported attention, in both languages.
#include "io/model/model_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/utf8.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

// "layer 3" / "第 3 层（从 0 数起）"
Saying layer_of(const ImportedAttention& found) {
  if (!found.place.layer) return {"", ""};
  return {fmt::format("layer {}", *found.place.layer), fmt::format("第 {} 层", *found.place.layer)};
}

Saying heads_of(const HeadCounts& heads) {
  Saying words = {
      fmt::format("{} ({}) of d_k {} ({})", counted(heads.heads, "head"), heads.heads_from.en, heads.d_k,
                  heads.d_k_from.en),
      fmt::format("{} 个头（{}），d_k = {}（{}）", heads.heads, heads.heads_from.zh, heads.d_k, heads.d_k_from.zh)};
  if (heads.kv_heads == heads.heads) return words;
  words.en += fmt::format(" on {} ({})", counted(heads.kv_heads, "key/value head"), heads.kv_heads_from.en);
  words.zh += fmt::format("，{} 个键/值头（{}）", heads.kv_heads, heads.kv_heads_from.zh);
  return words;
}

}  // namespace

Saying account_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found), heads = heads_of(found.heads);
  const std::string prefix = found.place.prefix.empty() ? "" : escape(found.place.prefix, 200) + "*";
  std::vector<std::string> en = {fmt::format("{} ({})", found.family->title, found.family_from.en)};
  std::vector<std::string> zh = {fmt::format("{}（{}）", found.family->title, found.family_from.zh)};
  if (!layer.en.empty() || !prefix.empty()) {
    en.push_back(fmt::format("{}{}{}", layer.en, layer.en.empty() || prefix.empty() ? "" : ": ", prefix));
    zh.push_back(fmt::format("{}{}{}", layer.zh, layer.zh.empty() || prefix.empty() ? "" : "：", prefix));
  }
  en.emplace_back(found.tensors.out_by_in ? "weights out×in" : "weights in×out");
  zh.emplace_back(found.tensors.out_by_in ? "权重为 out×in" : "权重为 in×out");
  for (const Saying* words :
       {&heads, &found.rules.scale_said, &found.rules.mask_said, &found.rules.softcap_said, &found.rules.rope_said}) {
    if (words->en.empty()) continue;
    en.push_back(words->en);
    zh.push_back(words->zh);
  }
  for (const FoundPart& part : found.ignored) {
    en.push_back(fmt::format("without {} ({}, {})", part.name, part.what.en, part.seen_as));
    zh.push_back(fmt::format("不含 {}（{}，{}）", part.name, part.what.zh, part.seen_as));
  }
  return {fmt::format("{}", fmt::join(en, "; ")), fmt::format("{}", fmt::join(zh, "；"))};
}

Caption title_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found);
  return {fmt::format("{}{}{}", found.family->title, layer.en.empty() ? "" : ", ", layer.en),
          fmt::format("{}{}{}", found.family->title, layer.zh.empty() ? "" : "，", layer.zh), true};
}

Caption description_of(const ImportedAttention& found) {
  const Saying layer = layer_of(found);
  Caption text;
  text.bilingual = true;
  text.en = fmt::format(
      "The attention of {}{}. X is what the attention module receives{}; the output is before the residual "
      "connection and before any norm behind it.",
      layer.en.empty() ? "" : layer.en + ", counted from 0, of ", found.family->title,
      found.family->after_norm ? ": the tokens after the norm in front of it" : "");
  text.zh = fmt::format("{}{}的注意力。X 是注意力模块接收到的输入{}；输出是残差连接和其后归一化之前的结果。",
                        found.family->title, layer.zh.empty() ? "" : fmt::format(" {}（从 0 数起）", layer.zh),
                        found.family->after_norm ? "，即经过它前面的归一化之后的词元" : "");
  if (!found.place.prefix.empty()) {
    text.en += fmt::format(" Its tensors begin with \"{}\".", found.place.prefix);
    text.zh += fmt::format("张量名以“{}”开头。", found.place.prefix);
  }
  for (const FoundPart& part : found.ignored) {
    text.en +=
        fmt::format(" Not computed here, though the model has it: {} ({}), so the numbers are not those of the model.",
                    part.name, part.what.en);
    text.zh += fmt::format("模型具有而此处不计算：{}（{}），因此数值与该模型不同。", part.name, part.what.zh);
  }
  return text;
}

}  // namespace mha::io
