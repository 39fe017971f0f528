// Every key of a problem file: title, labels and the rules with a few numbers each (scale, softcap, rotary positions) as
// they are read and written; the table of all; and what to say of a key that is none or stands in the wrong place.
#include "io/problem/problem_keys.hpp"

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_reader.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

constexpr auto caption_keys = std::to_array<std::string_view>({"en", "zh"});
constexpr auto rope_keys =
    std::to_array<std::string_view>({"base", "pairing", "dims", "start", "positions", "positions_kv"});

Caption read_caption(Node& node) {
  if (const std::string* text = node.as<std::string>()) return {*text, "", false};
  const Fields fields(node, caption_keys,
                      {"a text, or {\"en\": \"…\", \"zh\": \"…\"}", "文本，或 {\"en\": \"…\", \"zh\": \"…\"}"});
  for (const std::string_view language : caption_keys)
    if (fields[language] == nullptr)
      fail(node,
           {"\"{}\" is missing; write both languages, or one plain text", "缺少 \"{}\"；请写两种语言，或一个普通的文本"},
           language);
  return {expect_text(*fields["en"]), expect_text(*fields["zh"]), true};
}

const List& expect_list_of_labels(const Node& node) {
  return expect<List>(node, {"a list of labels: [\"the\", \"cat\"]", "词元名称的列表：[\"the\", \"cat\"]"});
}

// The labels of one item: one for each row of X or X_kv.
std::vector<std::string> read_labels_of_item(const Node& node, Index rows, std::string_view input) {
  const List& list = expect_list_of_labels(node);
  const auto found = static_cast<Index>(list.size());
  if (found != rows)
    fail(node, {"{} for {} of {}; each row has one", "词元名称有{0}，而 {2} 有{1}；每行一个"}, counted(found, "label"),
         counted(rows, "row"), input);
  std::vector<std::string> labels;
  for (const Node& label : list)
    labels.push_back(
        expect<std::string>(label, {"a label, which is a text in double quotes", "词元名称，即双引号中的文本"}));
  return labels;
}

Labels read_labels(const Node& node, const Tensor& input, bool batched, std::string_view name) {
  const List& list = expect_list_of_labels(node);
  const bool per_item = !list.empty() && list.front().as<List>() != nullptr;
  const Shape& shape = input.shape();
  if (!per_item) return {read_labels_of_item(node, shape.rows, name)};
  if (!batched)
    fail(node,
         {"lists of labels, but {} has no batch; write one list: [\"the\", \"cat\"]",
          "词元名称的列表有几个，而 {} 没有批次；请写一个列表：[\"the\", \"cat\"]"},
         name);
  if (static_cast<Index>(list.size()) != shape.batch)
    fail(node,
         {"{} of labels for {} of {}; write one for each, or one for all",
          "词元名称有{0}，而 {2} 有{1}；请每个样本写一个，或全体共用一个"},
         counted(static_cast<Index>(list.size()), "list"), counted(shape.batch, "item"), name);
  Labels labels;
  for (const Node& item : list) labels.push_back(read_labels_of_item(item, shape.rows, name));
  return labels;
}

constexpr std::string_view pairings[] = {"half", "interleaved"};

Pairing read_pairing(const Node& node) {
  return static_cast<Pairing>(
      expect_choice(node, pairings,
                    {"unknown pairing {}.{} Known: \"half\" (column t with t + dims/2), \"interleaved\" (2t with 2t + 1)",
                     "不认识的配对方式 {}。{}可以写 \"half\"（列 t 与 t + dims/2）、\"interleaved\"（列 2t 与 2t + 1）"}));
}

Index read_dims(const Node& node, Index d_k) {
  const Index dims = expect_integer(node);
  if (dims < 2 || dims > d_k || dims % 2 != 0)
    fail(node,
         {"found {}, expected an even number from 2 to d_k = {}: columns turn in pairs",
          "这里是 {}，应为 2 到 d_k = {} 的偶数：列成对旋转"},
         dims, d_k);
  return dims;
}

void write_named(const ProblemPen& pen, std::string_view key, const Caption& caption) {
  if (caption.empty()) return;
  pen.json.key(key);
  write_caption(pen.json, caption);
}

void read_tokens(Node& node, Problem& problem) {
  problem.tokens = read_labels(node, problem.X, problem.batched, "X");
}

void read_tokens_kv(Node& node, Problem& problem) {
  if (!problem.X_kv)
    fail(node, {"tokens_kv labels the rows of X_kv, and there is no X_kv; keys are labelled by tokens then",
                "tokens_kv 给 X_kv 的行命名，而这里没有 X_kv；键此时用 tokens 的名称"});
  problem.tokens_kv = read_labels(node, *problem.X_kv, problem.batched, "X_kv");
}

// Any finite number is a scale: 0 and negative ones show what they do.
void read_scale(Node& node, Problem& problem) {
  const std::string* text = node.as<std::string>();
  if (text != nullptr && *text != "none")
    fail(node,
         {"found {}, expected a number or \"none\"; without the key the scale is 1/√d_k",
          "这里是 {}，应为数或 \"none\"；不写这个键时缩放因子为 1/√d_k"},
         quote(*text));
  problem.scale = text != nullptr ? Scale{Scale::Kind::none, 0} : Scale{Scale::Kind::number, expect_number(node)};
}

void write_scale(const ProblemPen& pen) {
  const Scale::Kind kind = pen.problem.scale.kind;
  if (kind == Scale::Kind::none) return pen.json.text("scale", "none");
  if (kind == Scale::Kind::number || pen.resolved) pen.json.number("scale", pen.problem.scale_factor());
}

void read_softcap(Node& node, Problem& problem) {
  problem.softcap = expect_positive(node);
}

void write_softcap(const ProblemPen& pen) {
  if (pen.problem.softcap) pen.json.number("softcap", *pen.problem.softcap);
}

void read_rope(Node& node, Problem& problem) {
  const Fields fields(node, rope_keys, {"an object, {} for the usual rotary positions", "对象，{} 表示通常的旋转位置编码"});
  Rope rope;
  rope.dims = problem.d_k();
  if (const Node* dims = fields["dims"]) rope.dims = read_dims(*dims, problem.d_k());
  if (rope.dims % 2 != 0)
    fail(node,
         {"d_k = {} is odd, but columns turn in pairs; write how many turn, {}",
          "d_k = {} 是奇数，而列成对旋转；请写明旋转几列，{}"},
         rope.dims,
         rope.dims > 1 ? named_so(fmt::format("\"dims\": {}", rope.dims - 1))
                       : Text{"which takes a d_k of at least 2", "这需要 d_k 至少为 2"});
  if (const Node* base = fields["base"]) rope.base = expect_positive(*base);
  if (const Node* pairing = fields["pairing"]) rope.pairing = read_pairing(*pairing);
  if (const Node* start = fields["start"]) rope.start = expect_integer(*start);
  if (Node* positions = fields["positions"])
    rope.positions = expect_integers(*positions, problem.queries(), {"one for each row of X", "X 的每行一个"});
  if (Node* positions = fields["positions_kv"])
    rope.positions_kv = expect_integers(*positions, problem.keys(), {"one for each key", "每个键一个"});
  problem.rope = std::move(rope);
}

void write_rope(const ProblemPen& pen) {
  if (!pen.problem.rope) return;
  const Rope& rope = *pen.problem.rope;
  pen.json.begin_object("rope", Spread::line);
  pen.json.number("base", rope.base);
  pen.json.text("pairing", pairings[static_cast<std::size_t>(rope.pairing)]);
  pen.json.integer("dims", rope.dims);
  pen.json.integer("start", rope.start);
  if (rope.positions) pen.json.integers("positions", *rope.positions);
  if (rope.positions_kv) pen.json.integers("positions_kv", *rope.positions_kv);
  pen.json.end();
}

constexpr std::array problem_table = {
    ProblemKey{"title", Part::frame, [](Node& node, Problem& problem) { problem.title = read_caption(node); }, write_title},
    ProblemKey{"description", Part::frame, [](Node& node, Problem& problem) { problem.description = read_caption(node); },
               [](const ProblemPen& pen) { write_named(pen, "description", pen.problem.description); }},
    ProblemKey{"tokens", Part::frame, read_tokens,
               [](const ProblemPen& pen) { write_labels(pen.json, "tokens", pen.problem.tokens); }},
    ProblemKey{"tokens_kv", Part::frame, read_tokens_kv,
               [](const ProblemPen& pen) { write_labels(pen.json, "tokens_kv", pen.problem.tokens_kv); }},
    ProblemKey{"X", Part::frame, nullptr, write_X},
    ProblemKey{"X_kv", Part::frame, nullptr, write_X_kv},
    ProblemKey{"layout", Part::frame, nullptr, write_layout},
    ProblemKey{"heads", Part::weights, nullptr, write_weights},  // in either form, and W_O
    ProblemKey{"kv_heads", Part::weights},
    ProblemKey{"num_heads", Part::weights},
    ProblemKey{"num_kv_heads", Part::weights},
    ProblemKey{"W_Q", Part::weights},
    ProblemKey{"W_K", Part::weights},
    ProblemKey{"W_V", Part::weights},
    ProblemKey{"b_Q", Part::weights},
    ProblemKey{"b_K", Part::weights},
    ProblemKey{"b_V", Part::weights},
    ProblemKey{"W_QKV", Part::weights},
    ProblemKey{"b_QKV", Part::weights},
    ProblemKey{"W_O", Part::weights},
    ProblemKey{"b_O", Part::weights},
    ProblemKey{"mask", Part::rule, read_masks, write_masks},
    ProblemKey{"scale", Part::rule, read_scale, write_scale},
    ProblemKey{"softcap", Part::rule, read_softcap, write_softcap},
    ProblemKey{"rope", Part::rule, read_rope, write_rope},
    ProblemKey{"residual", Part::rule, read_residual,
               [](const ProblemPen& pen) {
                 if (pen.problem.residual) pen.json.boolean("residual", true);
               }},
    ProblemKey{"norm_place", Part::rule, read_norm_place, write_norm_place},
    ProblemKey{"norm", Part::rule, read_attention_norm,
               [](const ProblemPen& pen) { write_norm(pen, "norm", pen.problem.norm); }},
    ProblemKey{"mlp", Part::rule, read_mlp, write_mlp},
    ProblemKey{"mlp_norm", Part::rule, read_mlp_norm,
               [](const ProblemPen& pen) { write_norm(pen, "mlp_norm", pen.problem.mlp_norm); }},
    ProblemKey{"layers", Part::frame, read_layers, write_layers},
    ProblemKey{"final_norm", Part::frame, read_final_norm,
               [](const ProblemPen& pen) { write_norm(pen, "final_norm", pen.problem.final_norm); }},
    ProblemKey{"loss", Part::frame, read_loss, write_loss},
};

constexpr auto keys_of_table = [] {
  std::array<std::string_view, problem_table.size()> keys;
  std::transform(problem_table.begin(), problem_table.end(), keys.begin(), [](const ProblemKey& row) { return row.key; });
  return keys;
}();

constexpr auto keys_of_layers = [] {
  std::array<std::string_view, std::count_if(problem_table.begin(), problem_table.end(),
                                             [](const ProblemKey& row) { return row.part != Part::frame; })>
      keys;
  std::size_t i = 0;
  for (const ProblemKey& row : problem_table)
    if (row.part != Part::frame) keys[i++] = row.key;
  return keys;
}();

constexpr KeySet key_sets[] = {
    {{"an entry of heads", "heads 的一项"}, head_keys},
    {{"an entry of kv_heads", "kv_heads 的一项"}, kv_head_keys},
    {{"the problem itself", "题目本身"}, keys_of_table},
    {{"an entry of layers", "layers 的一项"}, keys_of_layers},
    {{"a title or description", "标题或说明"}, caption_keys},
    {{"mask", "mask"}, mask_keys},
    {{"mask.causal", "mask.causal"}, causal_keys},
    {{"mask.window", "mask.window"}, window_keys},
    {{"mask.alibi", "mask.alibi"}, alibi_keys},
    {{"rope", "rope"}, rope_keys},
    {{"norm", "norm"}, norm_keys},
    {{"mlp", "mlp"}, mlp_keys},
    {{"loss", "loss"}, loss_keys},
    {{"a matrix in a file", "文件中的矩阵"}, matrix_file_keys},
};

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

[[noreturn]] void refuse_key(const Node& node, const Member& member, std::span<const std::string_view> known) {
  Saying remedy;
  for (const KeySet& set : key_sets)  // where it belongs that is known, but not here
    if (remedy.en.empty() && is_among(member.key, set.keys))
      remedy = say({" It belongs in {}.", "它属于 {}。"}, set.object);
  if (remedy.en.empty()) remedy = did_you_mean_or_known(member.key, known);
  throw InputFault(member.position, node.path,
                   {"unknown key {}.{} A key of your own starts with _.", "不认识的键 {}。{}你自己的键以 _ 开头。"},
                   quote(member.key), remedy);
}

}  // namespace

std::span<const ProblemKey> keys_of_problem() {
  return problem_table;
}

std::span<const KeySet> problem_keys() {
  return key_sets;
}

std::size_t expect_choice(const Node& node, std::span<const std::string_view> names, const Text& unknown) {
  const std::string& text = expect_text(node);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  if (!unknown.en.empty()) fail(node, unknown, quote(text), did_you_mean(text, names));
  fail(node, {"unknown: {}.{}", "不认识：{}。{}"}, quote(text), did_you_mean_or_known(text, names));
}

Fields::Fields(Node& node, std::span<const std::string_view> known, const Text& what) : node_(&node), known_(known) {
  for (const Member& member : expect<Object>(node, what))
    if (!is_among(member.key, known)) refuse_key(node, member, known);
}

Fields Fields::of_problem(Node& root) {
  return {root,
          keys_of_table,
          {"one problem: {\"X\": …, \"heads\": …, \"W_O\": …}", "一道题目：{\"X\": …, \"heads\": …, \"W_O\": …}"}};
}

Fields Fields::of_layer(Node& layer) {
  return {layer, keys_of_layers, {"one layer: {\"heads\": …, \"W_O\": …}", "一层：{\"heads\": …, \"W_O\": …}"}};
}

Node* Fields::operator[](std::string_view key) const {
  assert(is_among(key, known_));
  for (Member& member : *node_->as<Object>())
    if (member.key == key) return &member.node;
  return nullptr;
}

void write_title(const ProblemPen& pen) {
  write_named(pen, "title", pen.problem.title);
}

void write_caption(JsonWriter& json, const Caption& caption) {
  if (!caption.bilingual) return json.text(caption.en);
  json.begin_object(Spread::line);
  json.text("en", caption.en);
  json.text("zh", caption.zh);
  json.end();
}

void write_labels(JsonWriter& json, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  json.key(key);
  if (labels.size() > 1) json.begin_array();
  for (const std::vector<std::string>& item : labels) {
    json.begin_array(Spread::line);
    for (const std::string& text : item) json.text(text);
    json.end();
  }
  if (labels.size() > 1) json.end();
}

}  // namespace mha::io
