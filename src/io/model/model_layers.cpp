// Which attentions a model's tensors hold: every prefix behind which all the names of one kind stand. Parts that mha does
// not compute are known by a table or seen by the names of their tensors.
#include "io/model/model_layers.hpp"

#include <fmt/ranges.h>

#include <set>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

constexpr std::size_t most_listed = 16;

bool is_number(std::string_view component) {
  return !component.empty() && component.size() < 10 &&
         std::all_of(component.begin(), component.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('.', start), name.size());
    parts.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::optional<Index> layer_in(std::string_view prefix) {
  std::optional<Index> layer;
  for (const std::string_view part : components(prefix))
    if (is_number(part)) layer = std::stoll(std::string(part));
  return layer;
}

// What stands before the key in the tensor's name, where that is a prefix.
std::optional<std::string> prefix_before(std::string_view key, const std::string& name) {
  if (key.empty() || !name.ends_with(key)) return std::nullopt;
  std::string prefix = name.substr(0, name.size() - key.size());
  if (!prefix.empty() && !prefix.ends_with('.')) return std::nullopt;
  return prefix;
}

std::vector<std::string> missing_names(const ModelFiles& model, const TensorNames& names, const std::string& prefix) {
  std::vector<std::string> missing;
  for (const std::string_view key : {names.qkv, names.q, names.k, names.v, names.o})
    if (!key.empty() && !model.has(prefix + std::string(key))) missing.push_back(prefix + std::string(key));
  return missing;
}

// Those that are not whole, by the kind of names of which each lacks the fewest.
std::vector<AttentionPlace> find_incomplete(const ModelFiles& model, const std::vector<AttentionPlace>& whole) {
  std::map<std::string, AttentionPlace> by_prefix;
  for (std::size_t kind = 0; kind < tensor_names.size(); ++kind) {
    const TensorNames& names = tensor_names[kind];
    for (const std::string_view key : {names.qkv, names.q, names.k, names.v})
      for (const std::string& name : model.names())
        if (const std::optional<std::string> prefix = prefix_before(key, name)) {
          AttentionPlace place{static_cast<Names>(kind), *prefix, layer_in(*prefix), missing_names(model, names, *prefix)};
          const auto [found, is_new] = by_prefix.emplace(*prefix, place);
          if (!is_new && place.missing.size() < found->second.missing.size()) found->second = std::move(place);
        }
  }
  for (const AttentionPlace& place : whole) by_prefix.erase(place.prefix);
  std::vector<AttentionPlace> result;
  for (auto& [prefix, place] : by_prefix)
    if (!place.missing.empty()) result.push_back(std::move(place));
  return result;
}

Saying told(const AttentionPlace& incomplete) {
  std::vector<std::string> names;
  for (const std::string& name : incomplete.missing) names.push_back(quote(name));
  return say({"the attention {0} is not whole: {1} {2} missing; a model in shards is named by its folder or its "
              "model.safetensors.index.json",
              "注意力 {0} 不完整：缺少 {1}；分片的模型请写它的文件夹或 model.safetensors.index.json"},
             quote(incomplete.prefix), listed(names), names.size() == 1 ? "is" : "are");
}

// "0–11, 13"
std::string ranges(std::vector<Index> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] <= numbers[last] + 1) ++last;
    texts.push_back(last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}–{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// What is there, told by prefix: "layers 0–11 (bert.encoder.layer.N.)".
Saying told(const std::vector<AttentionPlace>& places) {
  std::map<std::string, std::vector<Index>> layers;
  for (const AttentionPlace& place : places) {
    std::vector<Index>& of_pattern = layers[pattern_of(place.prefix)];
    if (place.layer) of_pattern.push_back(*place.layer);
  }
  std::vector<Saying> all;
  for (const auto& [pattern, numbers] : layers) {
    const Saying name =
        pattern.empty() ? Saying{"names without a prefix", "没有前缀的名称"} : named_so(escape(pattern, 200));
    all.push_back(numbers.empty() ? say({"one without a number ({})", "一个没有层号的（{}）"}, name)
                                  : say({"layer{0} {1} ({2})", "第 {1} 层（{2}）"}, numbers.size() == 1 ? "" : "s",
                                        ranges(numbers), name));
  }
  return listed(all, {"; ", "；"});
}

constexpr std::string_view signs_of_attention[] = {
    "attn",     "Attention", "attention", "query", "q_proj", "k_proj",  "v_proj", "o_proj",    "qkv",
    "out_proj", "in_proj",   "q_lin",     "k_lin", "v_lin",  "out_lin", "c_proj", ".q.weight", ".k.weight"};

bool looks_like_attention(std::string_view name) {
  return std::any_of(std::begin(signs_of_attention), std::end(signs_of_attention),
                     [&](std::string_view sign) { return name.find(sign) != std::string_view::npos; });
}

std::string shape_or_nothing(ModelFiles& model, const std::string& name) {
  try {
    return " " + shape_of(model.tensor(name));
  } catch (const Error&) {  // a shard that is not here
    return "";
  }
}

// The names that speak of attention, all layers as one, with the shape that the first has.
Saying attention_like(ModelFiles& model) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const std::string& name : model.names()) {
    if (!looks_like_attention(name) || !seen.insert(pattern_of(name)).second) continue;
    if (seen.size() <= most_listed)
      texts.push_back(fmt::format("{}{}", escape(pattern_of(name), 200), shape_or_nothing(model, name)));
  }
  const std::string list = fmt::format("{}", fmt::join(texts, ", "));
  if (seen.size() <= most_listed) return named_so(list);
  return say({"{}, and {} more", "{}，另外还有 {} 个"}, list, seen.size() - most_listed);
}

constexpr Text known_names = {
    "mha knows those of PyTorch's MultiheadAttention (in_proj_weight, out_proj), BERT (attention.self.query, …), GPT-2 "
    "(attn.c_attn, attn.c_proj) and Llama, Mistral, Qwen and Gemma (q_proj, k_proj, v_proj, o_proj)",
    "mha 认识 PyTorch 的 "
    "MultiheadAttention（in_proj_weight、out_proj）、BERT（attention.self.query、…）、GPT-2（attn.c_attn、attn.c_"
    "proj）以及 Llama、Mistral、Qwen 和 Gemma（q_proj、k_proj、v_proj、o_proj）的名称"};

[[noreturn]] void refuse_unknown(ModelFiles& model, const std::vector<AttentionPlace>& incomplete) {
  const Saying seen = attention_like(model);
  const Saying fault = incomplete.empty() ? Saying{"no attention has names that mha knows", "没有 mha 认识其名称的注意力"}
                                          : told(incomplete.front());
  if (!seen.en.empty())
    throw Error({"{}. What looks like attention: {}. {}", "{}。像是注意力的有：{}。{}"}, fault, seen, known_names);
  throw Error(
      {"none of the {} tensors is named like a part of attention. {}", "{} 个张量中没有一个的名称像注意力的组成部分。{}"},
      model.names().size(), known_names);
}

[[noreturn]] void refuse_choice(const std::vector<AttentionPlace>& places, const LayerChoice& choice) {
  std::vector<std::string> prefixes;
  prefixes.reserve(places.size());
  for (const AttentionPlace& place : places) prefixes.push_back(quote(place.prefix));
  if (choice.layer)
    throw Error({"layer {} has several attentions: {}; choose one with --prefix and the beginning of its name",
                 "第 {} 层有几个注意力：{}；请用 --prefix 加名称的开头选一个"},
                *choice.layer, listed(prefixes));
  throw Error({"there are {} attentions: {}; choose one with --layer {}, or with --prefix and the beginning of its name",
               "有 {} 个注意力：{}；请用 --layer {}，或 --prefix 加名称的开头选一个"},
              places.size(), told(places), places.front().layer.value_or(0));
}

const UncomputedPart* part_of_key(std::string_view key) {
  for (const UncomputedPart& part : uncomputed_parts)
    for (const std::string_view known : part.keys)
      if (!known.empty() && key.starts_with(known)) return &part;
  return nullptr;
}

bool is_computed(const TensorNames& names, std::string_view key) {
  for (const std::string_view known : {names.qkv, names.q, names.k, names.v, names.o, names.b_qkv, names.b_q, names.b_k,
                                       names.b_v, names.b_o, names.buffers[0], names.buffers[1]})
    if (!known.empty() && key == known) return true;
  return false;
}

// Whether every tensor behind this prefix belongs to the attention: "…self_attn.", "…attention."
bool is_module(std::string_view prefix) {
  const std::string_view path = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return last.find("attn") != std::string_view::npos || last.find("attention") != std::string_view::npos;
}

// A name for what has none in the table: the key without its kind.
std::string name_of(std::string_view key) {
  for (const std::string_view kind : {".weight", ".bias"})
    if (key.ends_with(kind)) key.remove_suffix(kind.size());
  return std::string(key);
}

bool is_projection_part(const TensorNames& names, std::string_view key) {
  for (const std::string_view known : {names.qkv, names.q, names.k, names.v, names.o})
    if (known.ends_with(".weight") && key.starts_with(known.substr(0, known.size() - 6))) return true;
  return false;
}

bool answers_to(const FoundPart& part, std::string_view name) {
  const UncomputedPart* const row = part_of_key(name);
  return part.name == name || (row != nullptr && row->name == part.name);
}

// Whether a tensor of this name behind the layer's prefix is a part of the block.
bool is_of_block(const BlockNames& block, std::string_view key) {
  const std::string name = name_of(key);
  if (name == block.attention_norm || name == block.mlp_norm)
    return block.norm.kind == Norm::Kind::layer || key.ends_with(".weight");
  return !name.empty() && (name == block.gate || name == block.first || name == block.second);
}

}  // namespace

std::string AttentionPlace::layer_prefix() const {
  return names_of(names).module.empty() ? without_last(prefix) : prefix;
}

std::string without_last(const std::string& prefix) {
  return prefix.empty() ? "" : prefix.substr(0, prefix.rfind('.', prefix.size() - 2) + 1);
}

std::string pattern_of(std::string_view prefix) {
  std::vector<std::string_view> parts = components(prefix);
  for (std::string_view& part : parts)
    if (is_number(part)) part = "N";
  return fmt::format("{}", fmt::join(parts, "."));
}

std::vector<AttentionPlace> find_attentions(const ModelFiles& model) {
  std::vector<AttentionPlace> places;
  for (std::size_t kind = 0; kind < tensor_names.size(); ++kind) {
    const TensorNames& names = tensor_names[kind];
    for (const std::string& name : model.names())
      if (const auto prefix = prefix_before(names.qkv.empty() ? names.q : names.qkv, name))
        // GPT-2 calls the joined keys and values of its cross-attention c_attn as well.
        if (missing_names(model, names, *prefix).empty() && !model.has(*prefix + "q_attn.weight"))
          places.push_back({static_cast<Names>(kind), *prefix, layer_in(*prefix), {}});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const AttentionPlace& a, const AttentionPlace& b) { return a.layer < b.layer; });
  return places;
}

AttentionPlace choose_attention(ModelFiles& model, const LayerChoice& choice) {
  std::vector<AttentionPlace> meant = find_attentions(model);
  std::vector<AttentionPlace> incomplete = find_incomplete(model, meant);
  if (meant.empty()) refuse_unknown(model, incomplete);
  const auto keep = [&](auto wanted) {
    std::erase_if(incomplete, std::not_fn(wanted));
    std::erase_if(meant, std::not_fn(wanted));
  };
  const Saying all = told(meant);
  const std::size_t count = meant.size();
  if (choice.prefix) keep([&](const AttentionPlace& p) { return p.prefix.starts_with(*choice.prefix); });
  if (meant.empty())
    throw Error({"--prefix '{}': no attention's name begins so; there are {}: {}",
                 "--prefix '{}'：没有名称这样开头的注意力；共有 {} 个：{}"},
                *choice.prefix, count, all);
  if (choice.layer && meant.size() == 1 && !meant.front().layer) {
    meant.front().layer = choice.layer;  // the person knows where it is from
    return meant.front();
  }
  const Saying there = told(meant);
  if (choice.layer) keep([&](const AttentionPlace& p) { return p.layer == choice.layer; });
  const bool chosen = choice.layer || (choice.prefix && !meant.empty());
  if (!incomplete.empty() && meant.size() < (chosen ? 1 : 2))
    throw Error(
        {"{}; another attention is chosen with --layer or --prefix", "{}；用 --layer 或 --prefix 可以选另一个注意力"},
        told(incomplete.front()));
  if (meant.empty()) throw Error({"there is no layer {}; there are {}", "没有第 {} 层；有 {}"}, *choice.layer, there);
  if (meant.size() == 1) return meant.front();
  refuse_choice(meant, choice);
}

FoundPart part_in_config(std::string_view name, const Node& node) {
  const std::string* const text = node.as<std::string>();
  return part_called(name, say({"{} is {} in config.json", "config.json 的 {} 是 {}"}, node.path,
                               text != nullptr ? named_so(quote(*text)) : describe(node)));
}

FoundPart part_called(std::string_view name, Saying seen_as) {
  const auto* row = std::find_if(uncomputed_parts.begin(), uncomputed_parts.end(),
                                 [&](const UncomputedPart& part) { return part.name == name; });
  assert(row != uncomputed_parts.end());
  return {std::string(name), {std::string(row->what.en), std::string(row->what.zh)}, std::move(seen_as)};
}

void add_part(std::vector<FoundPart>& parts, FoundPart part) {
  if (std::none_of(parts.begin(), parts.end(), [&](const FoundPart& p) { return p.name == part.name; }))
    parts.push_back(std::move(part));
}

std::vector<FoundPart> find_parts(const ModelFiles& model, const AttentionPlace& place, const BlockNames* block) {
  const TensorNames& names = names_of(place.names);
  const std::string begin = block != nullptr ? place.layer_prefix() : place.prefix + std::string(names.module);
  const bool all_belong = block != nullptr || !names.module.empty() || is_module(place.prefix);
  std::vector<FoundPart> parts;
  for (const std::string& name : model.names()) {
    if (!name.starts_with(begin)) continue;
    const std::string key = name.substr((name.starts_with(place.prefix) ? place.prefix : begin).size());
    if (is_computed(names, key) || (block != nullptr && is_of_block(*block, key))) continue;
    const UncomputedPart* known = part_of_key(key);
    if (known == nullptr && !all_belong && !is_projection_part(names, key)) continue;
    add_part(parts, known != nullptr
                        ? part_called(known->name, named_so(name))
                        : FoundPart{name_of(key), {"a part that mha does not know", "mha 不认识的部分"}, named_so(name)});
  }
  return parts;
}

void refuse_parts(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored) {
  std::vector<std::string> names;
  Saying all;
  for (const FoundPart& part : parts) {
    if (std::any_of(ignored.begin(), ignored.end(), [&](const std::string& name) { return answers_to(part, name); }))
      continue;
    const Saying one = say({"{} ({}: {})", "{}（{}：{}）"}, escape(part.name, 200), part.what, part.seen_as);
    all = names.empty() ? one : say({"{}, {}", "{}、{}"}, all, one);
    names.push_back(part.name);
  }
  if (names.empty()) return;
  throw Error({"mha does not compute {}, which this layer has; to go without, which gives other numbers than the model's, "
               "say --ignore {}",
               "mha 不计算这一层中的 {}；要去掉它（得到的数与模型不同），请写 --ignore {}"},
              all, fmt::join(names, ","));
}

void refuse_unknown_names(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored) {
  std::vector<std::string_view> known = column_of(uncomputed_parts, &UncomputedPart::name);
  for (const FoundPart& part : parts) known.push_back(part.name);
  for (const UncomputedPart& part : uncomputed_parts)
    for (const std::string_view key : part.keys)
      if (!key.empty()) known.push_back(key);
  for (const std::string& name : ignored)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error({"--ignore '{}': no part is called so.{}", "--ignore '{}'：没有叫这个名称的部分。{}"}, name,
                  did_you_mean_or_known(name, known));
}

}  // namespace mha::io
