// The tensors of one attention, found by the names of their family, and joined ones cut into queries, keys and values. The
// number of heads stands nowhere in them; everything else can be checked there.
#include "io/model/model_tensors.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

class TensorLocator {
 public:
  TensorLocator(ModelFiles& model, const AttentionPlace& place)
      : model_(model), prefix_(place.prefix), names_(names_of(place.names)), out_by_in_(names_.out_by_in) {}

  AttentionTensors locate() {
    AttentionTensors found;
    if (!names_.qkv.empty()) {
      find_orientation();
      refuse_uneven(weight(names_.qkv));
      found.qkv = projection(names_.qkv, names_.b_qkv);
      cut(found, found.qkv->W.out / 3);
    } else {
      found.q = projection(names_.q, names_.b_q);
      found.k = projection(names_.k, names_.b_k);
      found.v = projection(names_.v, names_.b_v);
      cut_biases(found);
    }
    found.o = projection(names_.o, names_.b_o);
    found.out_by_in = out_by_in_;
    return found;
  }

 private:
  std::string named(std::string_view key) const { return prefix_ + std::string(key); }

  template <typename... Parts>
  [[noreturn]] void refuse(const TensorPlace& place, const Text& sentence, const Parts&... parts) const {
    throw Error({"{}: the {} {}", "{}：{} {}"}, place.file, tensor_called(place.tensor), say(sentence, parts...));
  }

  TensorPlace weight(std::string_view key) {
    const std::string name = named(key);
    const SafetensorsEntry& entry = model_.tensor(name);
    TensorPlace place{model_.file_of(name), name, 0, 0, {}};
    expect_readable(entry, place.file);
    if (entry.shape.size() != 2) refuse(place, {"is {}, expected a matrix", "是 {}，应为矩阵"}, shape_of(entry));
    if (entry.size() == 0) refuse(place, {"is {} and holds no number", "是 {}，不含任何数"}, shape_of(entry));
    place.in = entry.shape[out_by_in_ ? 1 : 0];
    place.out = entry.shape[out_by_in_ ? 0 : 1];
    return place;
  }

  // Of so many numbers; nothing where the model has none.
  std::optional<TensorPlace> bias(std::string_view key, Index length) {
    if (key.empty() || !model_.has(named(key))) return std::nullopt;
    const SafetensorsEntry& entry = model_.tensor(named(key));
    TensorPlace place{model_.file_of(named(key)), named(key), 1, length, {}};
    expect_readable(entry, place.file);
    if (entry.shape != std::vector<Index>{length})
      refuse(place,
             {"is {}, expected {} numbers, as many as its weights give", "是 {}，应为 {} 个数，与其权重矩阵给出的列数相同"},
             shape_of(entry), length);
    return place;
  }

  ProjectionPlaces projection(std::string_view weight_key, std::string_view bias_key) {
    ProjectionPlaces places{weight(weight_key), {}};
    places.b = bias(bias_key, places.W.out);
    return places;
  }

  // GPT-2's c_attn lies out×in where a Linear has taken the place of its Conv1D.
  void find_orientation() {
    const std::vector<Index>& shape = model_.tensor(named(names_.qkv)).shape;
    if (!names_.out_by_in && shape.size() == 2 && shape[0] == 3 * shape[1]) out_by_in_ = true;
  }

  void refuse_uneven(const TensorPlace& joined) const {
    if (joined.out == 3 * joined.in) return;
    const auto [rows, cols] = out_by_in_ ? std::pair{joined.out, joined.in} : std::pair{joined.in, joined.out};
    const Text expected =
        names_.out_by_in
            ? Text{"three times as many rows as columns (out×in: Q, K, V)", "行数为列数的三倍（输出×输入：Q、K、V）"}
            : Text{"three times as many columns as rows (in×out: Q, K, V)", "列数为行数的三倍（输入×输出：Q、K、V）"};
    refuse(joined, {"is {}×{}, expected {}; this is another kind of attention", "是 {}×{}，应当{}；这是另一种注意力"}, rows,
           cols, expected);
  }

  static TensorPlace part(const TensorPlace& whole, Index first, Index count) {
    TensorPlace place = whole;
    place.out = count;
    place.cut = {first, first + count};
    return place;
  }

  static void cut(AttentionTensors& found, Index width) {
    Index first = 0;
    for (ProjectionPlaces* places : {&found.q, &found.k, &found.v}) {
      places->W = part(found.qkv->W, first, width);
      if (found.qkv->b) places->b = part(*found.qkv->b, first, width);
      first += width;
    }
  }

  // One bias for three weights.
  void cut_biases(AttentionTensors& found) {
    const auto joined = bias(names_.b_qkv, found.q.W.out + found.k.W.out + found.v.W.out);
    if (!joined) return;
    Index first = 0;
    for (ProjectionPlaces* places : {&found.q, &found.k, &found.v}) {
      places->b = part(*joined, first, places->W.out);
      first += places->W.out;
    }
  }

  ModelFiles& model_;
  std::string prefix_;
  const TensorNames& names_;
  bool out_by_in_;
};

// "\"x.q_proj.weight\" gives 8 columns (8×4, out×in)"
Saying told(const TensorPlace& place, bool out_by_in) {
  return say({"the {} gives {} columns{}", "{}给出 {} 列{}"}, tensor_called(place.tensor), place.out,
             place.cut ? Saying{" to each of Q, K and V", "，Q、K、V 各有这么多"}
                       : say({" (it is {}×{}, {})", "（它是 {}×{}，{}）"}, out_by_in ? place.out : place.in,
                             out_by_in ? place.in : place.out,
                             out_by_in ? Text{"out×in", "输出×输入"} : Text{"in×out", "输入×输出"}));
}

// What an option says, or else the config; both must agree.
std::optional<Configured<Index>> agreed(std::string_view option, std::optional<Index> said,
                                        const std::optional<Configured<Index>>& configured) {
  if (!said) return configured;
  if (configured && configured->value != *said)
    throw Error({"{} {} contradicts {} in config.json, which is {}; leave the option out, or import from a folder without "
                 "that file",
                 "{} {} 与 config.json 的 {}（{}）矛盾；请去掉这个选项，或从没有该文件的文件夹导入"},
                option, *said, configured->key, configured->value);
  return configured ? configured : Configured<Index>{*said, ""};
}

Saying origin(const Configured<Index>& value, std::string_view option) {
  return value.key.empty() ? named_so(std::string(option)) : in_config(value.key);
}

class HeadCounter {
 public:
  HeadCounter(const AttentionTensors& tensors, const ModelConfig& config, const HeadOptions& options)
      : tensors_(tensors), config_(config), options_(options) {}

  HeadCounts count() {
    check_hidden_size();
    count_queries();
    count_keys();
    check_values();
    return counts_;
  }

 private:
  [[noreturn]] void refuse(const Saying& says, const Saying& needs, const TensorPlace& place) const {
    throw Error({"{}, so {}, but {}", "{}，因此{}，但{}"}, says, needs, told(place, tensors_.out_by_in));
  }

  void check_hidden_size() const {
    const auto hidden = hidden_size();
    if (hidden && hidden->value != tensors_.q.W.in)
      throw Error({"{} in config.json is {}, but the {} takes {} columns; they are not of one model",
                   "config.json 的 {} 是 {}，但{}需要 {} 列；它们不属于同一个模型"},
                  hidden->key, hidden->value, tensor_called(tensors_.q.W.tensor), tensors_.q.W.in);
  }

  std::optional<Configured<Index>> hidden_size() const { return config_.count({"hidden_size", "n_embd", "d_model"}); }

  // "config.json says 12 heads (num_attention_heads)"
  Saying heads_said() const {
    return say({"there are {} heads ({})", "有 {} 个头（{}）"}, counts_.heads, counts_.heads_from);
  }

  void count_queries() {
    const TensorPlace& q = tensors_.q.W;
    const auto heads = agreed("--heads", options_.heads, config_.count({"num_attention_heads", "n_head", "num_heads"}));
    if (!heads)
      throw Error({"{}, but nothing says how many heads share them{}; say it with --heads",
                   "{}，但没有说明由几个头分享{}；请用 --heads 指定"},
                  told(q, tensors_.out_by_in),
                  config_.given()
                      ? Text{": config.json has no num_attention_heads", "（config.json 没有 num_attention_heads）"}
                      : Text{", since there is no config.json", "（没有 config.json）"});
    counts_.heads = heads->value;
    counts_.heads_from = origin(*heads, "--heads");
    const auto hidden = hidden_size();
    if (const auto head_dim = config_.count({"head_dim"})) {
      counts_.d_k = head_dim->value;
      counts_.d_k_from = in_config(head_dim->key);
    } else if (hidden && hidden->value % counts_.heads == 0) {
      counts_.d_k = hidden->value / counts_.heads;
      counts_.d_k_from = in_config(fmt::format("{}/{}", hidden->key, heads->key.empty() ? "heads" : heads->key));
    } else if (q.out % counts_.heads == 0) {
      counts_.d_k = q.out / counts_.heads;
      counts_.d_k_from = {"by the shapes", "由张量形状得出"};
    } else {
      refuse(heads_said(), {"they need a multiple of that", "列数应为它的倍数"}, q);
    }
    if (q.out / counts_.heads != counts_.d_k || q.out % counts_.heads != 0)
      refuse(say({"{} of size {} ({})", "{}，每个头宽 {}（{}）"}, heads_said(), counts_.d_k, counts_.d_k_from),
             say({"the queries need {} columns", "查询需要 {} 列"}, counts_.heads * counts_.d_k), q);
  }

  void count_keys() {
    const TensorPlace& k = tensors_.k.W;
    const auto said = agreed("--kv-heads", options_.kv_heads, config_.count({"num_key_value_heads"}));
    const bool heads_configured = config_.count({"num_attention_heads", "n_head", "num_heads"}).has_value();
    if (said) {
      counts_.kv_heads = said->value;
      counts_.kv_heads_from = origin(*said, "--kv-heads");
    } else if (heads_configured) {
      counts_.kv_heads = counts_.heads;
      counts_.kv_heads_from = {"no num_key_value_heads in config.json", "config.json 没有 num_key_value_heads"};
    } else {
      counts_.kv_heads = std::max<Index>(1, k.out / counts_.d_k);
      counts_.kv_heads_from = {"by the shapes", "由张量形状得出"};
    }
    if (k.out % counts_.d_k != 0 || k.out / counts_.d_k != counts_.kv_heads)
      refuse(say({"there are {} key/value heads ({}) of size {} ({})", "有 {} 个键值头（{}），每个宽 {}（{}）"},
                 counts_.kv_heads, counts_.kv_heads_from, counts_.d_k, counts_.d_k_from),
             say({"the keys need {} columns", "键需要 {} 列"}, counts_.kv_heads * counts_.d_k), k);
    if (counts_.heads % counts_.kv_heads != 0)
      throw Error({"{} heads ({}) cannot share {} key/value heads ({}) evenly", "{} 个头（{}）不能均分 {} 个键值头（{}）"},
                  counts_.heads, counts_.heads_from, counts_.kv_heads, counts_.kv_heads_from);
  }

  // d_v may differ from d_k.
  void check_values() const {
    const TensorPlace &k = tensors_.k.W, &v = tensors_.v.W, &o = tensors_.o.W;
    if (v.out % counts_.kv_heads != 0)
      refuse(say({"there are {} key/value heads ({})", "有 {} 个键值头（{}）"}, counts_.kv_heads, counts_.kv_heads_from),
             {"the values need a multiple of that", "值的列数应为它的倍数"}, v);
    const Index concat = counts_.heads * (v.out / counts_.kv_heads);
    if (o.in != concat)
      throw Error({"{} heads of {} values are {} columns side by side, but the {} takes {}",
                   "{} 个头各 {} 列，并排共 {} 列，但{}需要 {} 列"},
                  counts_.heads, v.out / counts_.kv_heads, concat, tensor_called(o.tensor), o.in);
    if (k.in != v.in)
      throw Error({"the tensor \"{}\" takes {} columns and \"{}\" takes {}; mha computes keys and values from one input",
                   "张量“{}”需要 {} 列，而“{}”需要 {} 列；mha 由同一个输入计算键和值"},
                  escape(k.tensor, 200), k.in, escape(v.tensor, 200), v.in);
  }

  const AttentionTensors& tensors_;
  const ModelConfig& config_;
  const HeadOptions& options_;
  HeadCounts counts_;
};

}  // namespace

AttentionTensors locate_tensors(ModelFiles& model, const AttentionPlace& place) {
  return TensorLocator(model, place).locate();
}

HeadCounts count_heads(const AttentionTensors& tensors, const ModelConfig& config, const HeadOptions& options) {
  return HeadCounter(tensors, config, options).count();
}

}  // namespace mha::io
