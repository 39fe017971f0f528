// What is said of imported layers: what was taken and from what, and what the problem is.

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/json/tree.hpp"
#include "io/model/model_import.hpp"

namespace mha::io {
namespace {

// "layer 3", "layers 0–5"; nothing where the names do not say.
Saying layers_of(const ImportedLayer& first, const ImportedLayer& last) {
  if (!first.place.layer) return {};
  if (first.place.layer == last.place.layer) return say({"layer {}", "第 {} 层"}, *first.place.layer);
  return say({"layers {}–{}", "第 {}–{} 层"}, *first.place.layer, *last.place.layer);
}

Saying layers_of(const Imported& found) {
  return layers_of(found.first(), found.layers.back());
}

Saying heads_of(const HeadCounts& counts) {
  const auto& [heads, kv_heads, d_k] = counts;
  Saying words = say({"{} ({}) of d_k {} ({})", "{}（{}），d_k = {}（{}）"}, counted(heads.value, "head"), heads.from,
                     d_k.value, d_k.from);
  if (kv_heads.value == heads.value) return words;
  return say({"{} on {} ({})", "{}，{}（{}）"}, words, counted(kv_heads.value, "key/value head"), kv_heads.from);
}

// Those that say something, as one sentence.
Saying joined(std::vector<Saying> words) {
  std::erase_if(words, [](const Saying& word) { return word.en.empty(); });
  return listed(words, {"; ", "；"});
}

// What was taken of the layer, and from what.
Saying rules_of(const ImportedLayer& layer) {
  const AttentionRules& rules = layer.rules;
  return joined({layer.tensors.out_by_in ? Saying{"weights out×in", "权重矩阵按“输出×输入”存放"}
                                         : Saying{"weights in×out", "权重矩阵按“输入×输出”存放"},
                 heads_of(layer.heads), rules.scale_said, rules.mask_said, rules.softcap_said, rules.rope_said,
                 layer.block_rules.said});
}

// What a block is given and gives.
Saying block_described(const Imported& found, const Saying& of) {
  const std::optional<Index> first = found.first().place.layer;
  const Saying input =
      !first       ? Saying{}
      : *first > 0 ? say({" (what layer {} gives)", "（第 {} 层的输出）"}, *first - 1)
                   : Saying{" (the embeddings as the model hands them to its layers)", "（模型交给各层的词元嵌入）"};
  return say({"Attention, norms, residual sums and MLP of {}{}. X is what comes in{}; the result is what comes out{}.",
              "{1}{0}的注意力、归一化、残差连接和 MLP。X 是输入{2}；结果是输出{3}。"},
             of, found.first().family->title, input,
             found.final_norm ? Saying{", after the model's final norm", "再经过最后的归一化"} : Saying{});
}

}  // namespace

std::vector<Saying> account_of(const Imported& found) {
  std::vector<Saying> accounts;
  for (std::size_t first = 0, next = 0; first < found.layers.size(); first = next) {
    const ImportedLayer& layer = found.layers[first];
    const Saying rules = rules_of(layer);
    while (next < found.layers.size() && rules_of(found.layers[next]).en == rules.en) ++next;
    const Saying numbers = layers_of(layer, found.layers[next - 1]);
    const std::string prefix = next == first + 1 ? layer.prefix() : pattern_of(layer.prefix());
    const std::string names = prefix.empty() ? "" : escape(prefix, 200) + "*";
    std::vector<Saying> words = {say({"{} ({})", "{}（{}）"}, layer.family->title, layer.family_from),
                                 numbers.en.empty() || names.empty() ? say({"{}{}", "{}{}"}, numbers, names)
                                                                     : say({"{}: {}", "{}：{}"}, numbers, names),
                                 rules};
    if (found.final_norm && next == found.layers.size())
      words.push_back(say({"then the final norm ({})", "最后的归一化（{}）"}, escape(found.final_norm->W.tensor, 200)));
    if (!found.missing_norm.empty() && next == found.layers.size())
      words.push_back(
          say({"without the model's final norm, since there is no tensor {}", "不含模型最后的归一化，因为没有张量 {}"},
              escape(found.missing_norm, 200)));
    for (const FoundPart& part : found.ignored)
      words.push_back(say({"without {} ({}, {})", "不含 {}（{}，{}）"}, part.name, part.what, part.seen_as));
    accounts.push_back(joined(words));
  }
  return accounts;
}

Caption title_of(const Imported& found) {
  const Saying layers = layers_of(found);
  Saying title = say(found.first().family->title);
  if (!layers.en.empty()) title = say({"{}, {}", "{}，{}"}, title, layers);
  if (found.first().block != nullptr && !found.stack) title = say({"{}: the whole block", "{}：整个块"}, title);
  return {title.en, title.zh, true};
}

Caption description_of(const Imported& found) {
  const ImportedLayer& first = found.first();
  const Saying layers = layers_of(found);
  const Saying of = layers.en.empty() ? layers : say({"{}, counted from 0, of ", " {}（从 0 数起）"}, layers);
  Saying text =
      first.block != nullptr
          ? block_described(found, of)
          : say({"The attention of {}{}. X is what the attention module receives{}; the output is before the residual "
                 "connection and before any norm behind it.",
                 "{1}{0}的注意力。X 是注意力模块接收到的输入{2}；输出是残差连接和其后归一化之前的结果。"},
                of, first.family->title,
                first.family->block != nullptr && first.family->block->place == NormPlace::pre
                    ? Saying{": the tokens after the norm in front of it", "，即经过它前面的归一化之后的词元"}
                    : Saying{});
  if (!first.prefix().empty() && found.layers.size() == 1)
    text = say({"{} Its tensors begin with \"{}\".", "{}张量名以“{}”开头。"}, text, first.prefix());
  for (const FoundPart& part : found.ignored)
    text = say({"{} Not computed here, though the model has it: {} ({}), so the numbers are not those of the model.",
                "{}模型具有而此处不计算：{}（{}），因此数值与该模型不同。"},
               text, part.name, part.what);
  return {text.en, text.zh, true};
}

}  // namespace mha::io
