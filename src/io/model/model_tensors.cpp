// The tensors of one layer, found by the names of their family, and joined ones cut into queries, keys and values. The
// number of heads stands nowhere in them; everything else can be checked there.
#include "io/model/model_layers.hpp"

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

template <typename... Parts>
[[noreturn]] void refuse_tensor(const TensorPlace& place, const Text& sentence, const Parts&... parts) {
  throw Error({"{}: the {} {}", "{}：{} {}"}, place.file, tensor_called(place.tensor), say(sentence, parts...));
}

Text orientation(bool out_by_in) {
  return out_by_in ? Text{"out×in", "输出×输入"} : Text{"in×out", "输入×输出"};
}

std::string stored_shape(const TensorPlace& place, bool out_by_in) {
  return out_by_in ? fmt::format("{}×{}", place.out, place.in) : fmt::format("{}×{}", place.in, place.out);
}

TensorPlace locate_weight(ModelFiles& model, const std::string& name, bool out_by_in) {
  const SafetensorsEntry& entry = model.tensor(name);
  TensorPlace place{model.file_of(name), name, 0, 0, {}};
  expect_readable(entry, place.file);
  if (entry.shape.size() != 2) refuse_tensor(place, {"is {}, expected a matrix", "是 {}，应为矩阵"}, shape_of(entry));
  if (entry.size() == 0) refuse_tensor(place, {"is {} and holds no number", "是 {}，不含任何数"}, shape_of(entry));
  place.in = entry.shape[out_by_in ? 1 : 0];
  place.out = entry.shape[out_by_in ? 0 : 1];
  return place;
}

TensorPlace locate_vector(ModelFiles& model, const std::string& name, Index length) {
  const SafetensorsEntry& entry = model.tensor(name);
  TensorPlace place{model.file_of(name), name, 1, length, {}};
  expect_readable(entry, place.file);
  if (entry.shape != std::vector<Index>{length})
    refuse_tensor(place, {"is {}, expected {} numbers, one for each column", "是 {}，应为 {} 个数，每列一个"},
                  shape_of(entry), length);
  return place;
}

// Without the bias where the model has none, unless it is `biased`.
ProjectionPlaces locate_linear(ModelFiles& model, const std::string& weight, const std::string& bias, bool out_by_in,
                               bool biased = false) {
  ProjectionPlaces places{locate_weight(model, weight, out_by_in), {}};
  if (biased || model.has(bias)) places.b = locate_vector(model, bias, places.W.out);
  return places;
}

TensorPlace part_of(const TensorPlace& whole, Index first, Index count) {
  TensorPlace place = whole;
  place.out = count;
  place.cut = {first, first + count};
  return place;
}

void refuse_uneven(const TensorPlace& joined, bool out_by_in) {
  if (joined.out != 3 * joined.in)
    refuse_tensor(joined,
                  {"is {} ({}), expected three times as much out as in: Q, K, V; this is another kind of attention",
                   "是 {}（{}），输出应为输入的三倍：Q、K、V；这是另一种注意力"},
                  stored_shape(joined, out_by_in), orientation(out_by_in));
}

// "\"x.q_proj.weight\" gives 8 columns (8×4, out×in)"
Saying told(const TensorPlace& place, bool out_by_in) {
  return say({"the {} gives {} columns{}", "{}给出 {} 列{}"}, tensor_called(place.tensor), place.out,
             place.cut
                 ? Saying{" to each of Q, K and V", "，Q、K、V 各有这么多"}
                 : say({" (it is {}, {})", "（它是 {}，{}）"}, stored_shape(place, out_by_in), orientation(out_by_in)));
}

[[noreturn]] void refuse_count(const Saying& says, const Saying& needs, const TensorPlace& place, bool out_by_in) {
  throw Error({"{}, so {}, but {}", "{}，因此{}，但{}"}, says, needs, told(place, out_by_in));
}

// What the config says, or else an option; both must agree.
std::optional<SaidCount> agreed(std::string_view option, std::optional<Index> said,
                                const std::optional<Configured<Index>>& configured) {
  if (said && configured && configured->value != *said)
    throw Error({"{} {} contradicts {} in config.json, which is {}; leave the option out, or import from a folder without "
                 "that file",
                 "{} {} 与 config.json 的 {}（{}）矛盾；请去掉这个选项，或从没有该文件的文件夹导入"},
                option, *said, configured->key, configured->value);
  if (configured) return SaidCount{configured->value, in_config(configured->key)};
  return said ? std::optional(SaidCount{*said, named_so(option)}) : std::nullopt;
}

// d_v may differ from d_k.
void check_keys_and_values(const HeadCounts& counts, const AttentionTensors& tensors) {
  const TensorPlace &k = tensors.k.W, &v = tensors.v.W, &o = tensors.o.W;
  const auto& [heads, kv_heads, d_k] = counts;
  const Saying groups = say({"there are {} key/value heads ({})", "有 {} 个键值头（{}）"}, kv_heads.value, kv_heads.from);
  if (k.out != kv_heads.value * d_k.value)
    refuse_count(say({"{} of size {} ({})", "{}，每个宽 {}（{}）"}, groups, d_k.value, d_k.from),
                 say({"the keys need {} columns", "键需要 {} 列"}, kv_heads.value * d_k.value), k, tensors.out_by_in);
  if (heads.value % kv_heads.value != 0)
    throw Error({"{} heads ({}) cannot share {} key/value heads ({}) evenly", "{} 个头（{}）不能均分 {} 个键值头（{}）"},
                heads.value, heads.from, kv_heads.value, kv_heads.from);
  if (v.out % kv_heads.value != 0)
    refuse_count(groups, {"the values need a multiple of that", "值的列数应为它的倍数"}, v, tensors.out_by_in);
  const Index d_v = v.out / kv_heads.value;
  if (o.in != heads.value * d_v)
    throw Error({"{} heads of {} values are {} columns side by side, but the {} takes {}",
                 "{} 个头各 {} 列，并排共 {} 列，但{}需要 {} 列"},
                heads.value, d_v, heads.value * d_v, tensor_called(o.tensor), o.in);
  if (k.in != v.in)
    throw Error({"the tensor \"{}\" takes {} columns and \"{}\" takes {}; mha computes keys and values from one input",
                 "张量“{}”需要 {} 列，而“{}”需要 {} 列；mha 由同一个输入计算键和值"},
                escape(k.tensor, 200), k.in, escape(v.tensor, 200), v.in);
}

}  // namespace

AttentionTensors locate_tensors(ModelFiles& model, const AttentionPlace& place) {
  const TensorNames& names = names_of(place.names);
  const auto named = [&place](std::string_view key) { return place.prefix + std::string(key); };
  AttentionTensors found;
  found.out_by_in = names.out_by_in;
  if (!names.qkv.empty()) {
    // GPT-2's c_attn lies out×in where a Linear has taken the place of its Conv1D.
    const std::vector<Index>& shape = model.tensor(named(names.qkv)).shape;
    found.out_by_in = names.out_by_in || (shape.size() == 2 && shape[0] == 3 * shape[1]);
    refuse_uneven(locate_weight(model, named(names.qkv), found.out_by_in), found.out_by_in);
  }
  const auto linear = [&](std::string_view weight, std::string_view bias) {
    return locate_linear(model, named(weight), bias.empty() ? "" : named(bias), found.out_by_in);
  };
  found.o = linear(names.o, names.b_o);
  std::optional<TensorPlace> joined;  // bias
  if (!names.qkv.empty()) {
    found.qkv = linear(names.qkv, names.b_qkv);
    joined = found.qkv->b;
  } else {
    found.q = linear(names.q, names.b_q);
    found.k = linear(names.k, names.b_k);
    found.v = linear(names.v, names.b_v);
    if (!names.b_qkv.empty() && model.has(named(names.b_qkv)))
      joined = locate_vector(model, named(names.b_qkv), found.q.W.out + found.k.W.out + found.v.W.out);
  }
  Index first = 0;
  for (ProjectionPlaces* places : {&found.q, &found.k, &found.v}) {
    if (found.qkv) places->W = part_of(found.qkv->W, first, found.qkv->W.out / 3);
    if (joined) places->b = part_of(*joined, first, places->W.out);
    first += places->W.out;
  }
  return found;
}

BlockTensors locate_block(ModelFiles& model, const std::string& prefix, const BlockNames& names,
                          const AttentionTensors& attention) {
  const bool biased = names.norm.kind == Norm::Kind::layer;
  const Index d = attention.q.W.in;
  for (const auto& [place, width] : {std::pair(&attention.k.W, attention.k.W.in), {&attention.o.W, attention.o.W.out}})
    if (width != d)
      refuse_tensor(
          *place,
          {"has {} where the layer's input has {}; a block has one width", "有 {}，而该层的输入有 {}；块只有一种宽度"},
          counted(width, "column"), d);
  const auto linear = [&](std::string_view name, Index in, std::optional<Index> out) {
    ProjectionPlaces places = locate_linear(model, fmt::format("{}{}.weight", prefix, name),
                                            fmt::format("{}{}.bias", prefix, name), attention.out_by_in, biased);
    if (places.W.in != in || places.W.out != out.value_or(places.W.out))
      refuse_tensor(places.W, {"goes from {} to {}, expected from {} to {}", "由 {} 变为 {}，应由 {} 变为 {}"}, places.W.in,
                    counted(places.W.out, "column"), in, out.value_or(places.W.out));
    return places;
  };
  BlockTensors found;
  found.attention_norm = locate_norm(model, prefix + std::string(names.attention_norm), d, biased);
  found.mlp_norm = locate_norm(model, prefix + std::string(names.mlp_norm), d, biased);
  found.first = linear(names.first, d, {});
  if (!names.gate.empty()) found.gate = linear(names.gate, d, found.first.W.out);
  found.second = linear(names.second, found.first.W.out, d);
  return found;
}

ProjectionPlaces locate_norm(ModelFiles& model, const std::string& name, Index width, bool biased) {
  ProjectionPlaces places{locate_vector(model, name + ".weight", width), {}};
  if (biased) places.b = locate_vector(model, name + ".bias", width);
  return places;
}

HeadCounts count_heads(const AttentionTensors& tensors, bool grouped, const ModelConfig& config,
                       const HeadOptions& options) {
  const TensorPlace &q = tensors.q.W, &k = tensors.k.W;
  const auto of_grouped = [&](std::string_view key) { return grouped ? config.count({key}) : std::nullopt; };
  const Saying by_shapes = {"by the shapes", "由张量形状得出"};
  if (const auto hidden = config.count({"hidden_size", "n_embd", "d_model"}); hidden && hidden->value != q.in)
    throw Error({"{} in config.json is {}, but the {} takes {} columns; they are not of one model",
                 "config.json 的 {} 是 {}，但{}需要 {} 列；它们不属于同一个模型"},
                hidden->key, hidden->value, tensor_called(q.tensor), q.in);
  const auto heads = agreed("--heads", options.heads, config.head_count());
  if (!heads)
    throw Error({"{}, but nothing says how many heads share them{}; say it with --heads",
                 "{}，但没有说明由几个头分享{}；请用 --heads 指定"},
                told(q, tensors.out_by_in),
                config.given()
                    ? Text{": config.json has no num_attention_heads", "（config.json 没有 num_attention_heads）"}
                    : Text{", since there is no config.json", "（没有 config.json）"});
  const Index h = heads->value;
  const Saying said = say({"there are {} heads ({})", "有 {} 个头（{}）"}, h, heads->from);
  if (q.out % h != 0) refuse_count(said, {"they need a multiple of that", "列数应为它的倍数"}, q, tensors.out_by_in);
  const SaidCount d_k = agreed("", {}, of_grouped("head_dim")).value_or(SaidCount{q.out / h, by_shapes});
  if (q.out != h * d_k.value)
    refuse_count(say({"{} of size {} ({})", "{}，每个头宽 {}（{}）"}, said, d_k.value, d_k.from),
                 say({"the queries need {} columns", "查询需要 {} 列"}, h * d_k.value), q, tensors.out_by_in);
  const SaidCount alike =
      !grouped ? SaidCount{h, {"one for each head", "每个头一个"}}
      : config.head_count()
          ? SaidCount{h, {"no num_key_value_heads in config.json", "config.json 没有 num_key_value_heads"}}
          : SaidCount{std::max<Index>(1, k.out / d_k.value), by_shapes};
  HeadCounts counts{*heads, agreed("--kv-heads", options.kv_heads, of_grouped("num_key_value_heads")).value_or(alike), d_k};
  check_keys_and_values(counts, tensors);
  return counts;
}

}  // namespace mha::io
