// Answer files: JSON in, the person's matrices out; and the names of matrices.
#include "io/problem/answer.hpp"

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/json/reader.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

// "N'" for N′.
std::string typed_symbol(const StepName& step) {
  constexpr std::string_view prime = "′";
  std::string symbol(step.symbol);
  if (const std::size_t at = symbol.find(prime); at != std::string::npos) symbol.replace(at, prime.size(), "'");
  return symbol;
}

// The first step of this kind with this id or symbol.
template <typename Belongs>
std::optional<StepId> find_step(std::string_view name, Belongs belongs) {
  for (const StepName& step : row_names)
    if (belongs(step) && (name == step.id || name == step.symbol || name == typed_symbol(step))) return step.step;
  return std::nullopt;
}

// What a trace has beside matrices; its labels may look like numbers.
constexpr std::array<std::string_view, 12> not_matrices = {"format", "version",    "title",  "description",
                                                           "name",   "device",     "dtype",  "rounding",
                                                           "config", "parameters", "tokens", "loss"};
constexpr std::string_view parameters = "parameters";
constexpr std::array<std::string_view, 4> texts_of_answer = {"config", "title", "description", "tokens"};
// Of nn.MultiheadAttention, nn.TransformerEncoder and its layers, and projections that are modules of their own.
constexpr std::array<std::pair<std::string_view, StepId>, 23> torch_names = {{
    {"in_proj_weight", StepId::d_W_QKV},      {"in_proj_bias", StepId::d_b_QKV},
    {"q_proj_weight", StepId::d_W_Q},         {"k_proj_weight", StepId::d_W_K},
    {"v_proj_weight", StepId::d_W_V},         {"q_proj.weight", StepId::d_W_Q},
    {"k_proj.weight", StepId::d_W_K},         {"v_proj.weight", StepId::d_W_V},
    {"q_proj.bias", StepId::d_b_Q},           {"k_proj.bias", StepId::d_b_K},
    {"v_proj.bias", StepId::d_b_V},           {"out_proj.weight", StepId::d_W_O},
    {"out_proj.bias", StepId::d_b_O},         {"linear1.weight", StepId::d_W_1},
    {"linear1.bias", StepId::d_b_1},          {"linear2.weight", StepId::d_W_2},
    {"linear2.bias", StepId::d_b_2},          {"norm1.weight", StepId::d_norm_gamma},
    {"norm1.bias", StepId::d_norm_beta},      {"norm2.weight", StepId::d_mlp_norm_gamma},
    {"norm2.bias", StepId::d_mlp_norm_beta},  {"norm.weight", StepId::d_final_norm_gamma},
    {"norm.bias", StepId::d_final_norm_beta},
}};
constexpr Text expected = {
    "one answer: {\"A1\": …, \"Y\": …}, or as a trace: {\"heads\": [{\"weights\": …}], \"output\": …}",
    "一份答卷：{\"A1\": …, \"Y\": …}，或写成计算记录的样子：{\"heads\": [{\"weights\": …}], \"output\": …}"};

constexpr Index most_layers = 100'000;

int layer_number(const Node& node) {
  const Index number = expect_integer(node);
  if (number < 1 || number > most_layers)
    fail(node, {"found layer {}; layers are counted from 1 to their number", "读到第 {} 层；层从 1 开始编号"}, number);
  return static_cast<int>(number) - 1;
}

// 1 of "X2", "X_2" and "X₂", what the second layer of a stack gives: from 0.
std::optional<int> numbered_X(std::string_view key) {
  if (!key.starts_with('X')) return std::nullopt;
  std::string number(key.substr(key.starts_with("X_") ? 2 : 1));
  constexpr std::string_view subscript = "\xE2\x82";  // and 0x80 + the digit
  for (std::size_t at = 0; (at = number.find(subscript)) != std::string::npos && at + 2 < number.size();)
    number.replace(at, 3, 1, static_cast<char>('0' + (number[at + 2] & 0xF)));
  const std::optional<Index> layer = whole_number(number);
  if (!layer || *layer < 1 || *layer > most_layers) return std::nullopt;
  return static_cast<int>(*layer) - 1;
}

class AnswerReader {
 public:
  Answer read(Node& root);

 private:
  // Of what the trace has under "gradients" the parameters are part of the work as well.
  bool is_work(std::string_view key) const {
    return (backward_ && key == parameters) ||
           std::find(not_matrices.begin(), not_matrices.end(), key) == not_matrices.end();
  }
  // "dscores" for "scores" among the gradients.
  std::string name_of_key(std::string_view key) const { return (backward_ ? "d" : "") + std::string(key); }
  void read_member(Member& member);
  void read_gradients(Node& node);
  void read_parameters(Node& node);
  void read_torch(Member& member, StepId step);
  void read_layers(Node& node);
  void read_packed(Node& node);
  void read_heads(Node& node);
  void read_head(Node& node, Index place);
  void take(Node& node, StepId step, std::optional<Index> head, std::optional<Index> kv_head = {});
  void tell_no_number(const std::string& place, const Saying& found);
  void refuse_another(const Node& node, const AnswerMatrix& matrix) const;
  void pass_over(const Member& member, const std::vector<std::string>& known);

  Answer answer_;
  std::optional<int> layer_;  // that is being read
  bool backward_ = false;     // gradients are being read
  bool is_result_ = false;    // of that layer
  bool is_problem_ = false;   // weights stand in it
};

Answer AnswerReader::read(Node& root) {
  for (Member& member : expect<Object>(root, expected)) {
    if (member.key == "name") answer_.name = expect_text(member.node);
    if (is_work(member.key)) read_member(member);
  }
  const auto is_input = [](const AnswerMatrix& matrix) { return matrix.step == StepId::X; };
  if (is_problem_ && std::all_of(answer_.matrices.begin(), answer_.matrices.end(), is_input))
    fail(root,
         {"this is a problem: X and weights, and no step that follows from them; expected {}.",
          "这是一道题目：只有 X 和权重矩阵，没有由它们得出的步骤；应为{}。"},
         expected);
  if (answer_.matrices.empty() && answer_.left_blank.empty()) {
    const Saying hint = answer_.unknown.empty() ? Saying{} : say({" {}", "{}"}, answer_.unknown.front());
    fail(root, {"no matrix of any step is in it; expected {}.{}", "其中没有任何步骤的矩阵；应为{}。{}"}, expected, hint);
  }
  return std::move(answer_);
}

void AnswerReader::read_member(Member& member) {
  if (const std::optional<StepId> step = step_in_torch(member.key)) return read_torch(member, *step);
  if (const std::optional<int> layer = said_layer(member.key)) {
    const std::optional<int> outer = std::exchange(layer_, layer);
    member.key = without_layer(member.key);
    read_member(member);
    layer_ = outer;
    return;
  }
  if (member.key == "layers") return read_layers(member.node);
  if (member.key == "heads") return read_heads(member.node);
  if (member.key == "packed" && member.node.as<Object>() != nullptr) return read_packed(member.node);
  if (member.key == "gradients" || (member.key == "grads" && member.node.as<Object>() != nullptr))
    return read_gradients(member.node);
  if (member.key == parameters && backward_) return read_parameters(member.node);
  if (const std::optional<MatrixName> name = answer_name(name_of_key(member.key), false))
    return take(member.node, name->step, name->head);
  if (const std::optional<int> layer = numbered_X(member.key)) {
    const std::optional<int> outer = std::exchange(layer_, layer);
    is_result_ = true;
    take(member.node, StepId::X, std::nullopt);
    is_result_ = false;
    layer_ = outer;
    return;
  }
  pass_over(member, known_matrix_names());
}

void AnswerReader::read_gradients(Node& node) {
  if (node.as<Null>() != nullptr) return;
  backward_ = true;
  for (Member& member : expect<Object>(node, {"gradients as a trace has them: {\"heads\": [{\"weights\": …}], \"X\": …}",
                                              "像计算记录那样的梯度：{\"heads\": [{\"weights\": …}], \"X\": …}"}))
    read_member(member);
  backward_ = false;
}

// {"heads": [{"W_Q": …}], "W_O": …, "mlp": {"W_1": …}}, as the problem has them.
void AnswerReader::read_parameters(Node& node) {
  if (node.as<Null>() != nullptr) return;
  for (Member& member : expect<Object>(node, {"the gradients of the weights: {\"W_O\": …, \"mlp\": {\"W_1\": …}}",
                                              "各权重的梯度：{\"W_O\": …, \"mlp\": {\"W_1\": …}}"})) {
    if (member.key == "heads" || member.key == "kv_heads") {
      read_heads(member.node);
      continue;
    }
    Object* const place = member.node.as<Object>();
    for (Member& inner : place != nullptr ? *place : Object()) inner.key = member.key + "." + inner.key, read_member(inner);
    if (place == nullptr) read_member(member);
  }
}

// "layers.0.self_attn.in_proj_weight", whose layers count from 0.
void AnswerReader::read_torch(Member& member, StepId step) {
  const std::optional<int> outer = layer_;
  const std::string_view key = member.key;
  for (std::size_t at = 0, dot; (dot = key.find('.', at)) != std::string_view::npos; at = dot + 1)
    if (const std::optional<Index> number = whole_number(key.substr(at, dot - at)); number && *number < most_layers)
      layer_ = static_cast<int>(*number);
  const std::size_t before = answer_.matrices.size();
  take(member.node, step, {});
  if (answer_.matrices.size() > before) answer_.matrices.back().out_by_in = name_of(step).symbol.starts_with("dW");
  layer_ = outer;
}

void AnswerReader::read_layers(Node& node) {
  if (node.as<Null>() != nullptr) return;
  List& list = expect<List>(node, {"a list of layers: [{\"heads\": …}, …]", "各层的列表：[{\"heads\": …}, …]"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    Object& layer =
        expect<Object>(list[i], {"one layer: {\"heads\": …, \"output\": …}", "一层：{\"heads\": …, \"output\": …}"});
    layer_ = static_cast<int>(i);
    for (const Member& member : layer)
      if (member.key == "layer") layer_ = layer_number(member.node);
    for (Member& member : layer)
      if (member.key != "layer" && is_work(member.key)) read_member(member);
  }
  layer_.reset();
}

void AnswerReader::read_packed(Node& node) {
  for (Member& member : expect<Object>(
           node, {"the packed products: {\"Q\": …, \"K\": …, \"V\": …}", "合并的乘积：{\"Q\": …, \"K\": …, \"V\": …}"})) {
    if (const std::optional<StepId> step = packed_step(name_of_key(member.key)))
      take(member.node, *step, std::nullopt);
    else
      pass_over(member, {"Q", "K", "V"});
  }
}

void AnswerReader::read_heads(Node& node) {
  if (node.as<Null>() != nullptr) return;
  const Grid* empty = node.as<Grid>();
  if (empty != nullptr && empty->axes == std::vector<Index>{0}) return;
  List& list = expect<List>(node, {"a list of heads: [{\"weights\": …}, …]", "各头的列表：[{\"weights\": …}, …]"});
  for (std::size_t i = 0; i < list.size(); ++i) read_head(list[i], static_cast<Index>(i));
}

void AnswerReader::read_head(Node& node, Index place) {
  Object& head = expect<Object>(node, {"one head: {\"weights\": …}", "一个头：{\"weights\": …}"});
  std::optional<Index> kv_head;
  for (Member& member : head) {
    if (member.key == "kv_head") kv_head = expect_integer(member.node) - 1;
    if (member.key == "head") {
      place = expect_integer(member.node) - 1;
      if (place < 0 || place >= most_heads)
        fail(member.node,
             {"found head {}; heads are counted from 1 to their number", "这里是头 {}；头从 1 开始编号，不超过头数"},
             place + 1);
    }
  }
  std::vector<std::string> known;
  for (const StepName& step : step_names)
    if (step.per_head) known.emplace_back(step.id);
  for (Member& member : head) {
    if (member.key == "head" || member.key == "kv_head" || member.key == "name") continue;
    if (const std::optional<MatrixName> name = answer_name(name_of_key(member.key), true))
      take(member.node, name->step, place, kv_head);
    else
      pass_over(member, known);
  }
}

void AnswerReader::take(Node& node, StepId step, std::optional<Index> head, std::optional<Index> kv_head) {
  if (std::string* text = node.as<std::string>(); text != nullptr && !spelled_number(*text)) {
    if (!text->empty()) tell_no_number(node.path, describe(node));
    return answer_.left_blank.push_back(step);
  }
  if (node.as<Null>() != nullptr) return answer_.left_blank.push_back(step);
  Grid& grid = is_of_parameter(step) ? expect_grid(node, Entries::answers) : expect_rows(node, Entries::answers);
  if (grid.axes.size() == 1) grid.axes.insert(grid.axes.begin(), 1);  // of a bias
  for (const OddEntry& odd : grid.odd)
    if (odd.kind == OddEntry::Kind::text) tell_no_number(odd.path, odd.found);
  if (grid.nulls.size() == grid.numbers.size()) return answer_.left_blank.push_back(step);
  AnswerMatrix matrix{step,
                      head,
                      std::move(grid.axes),
                      std::move(grid.numbers),
                      std::move(grid.nulls),
                      std::move(grid.writing),
                      kv_head,
                      layer_,
                      false,
                      is_result_};
  refuse_another(node, matrix);
  answer_.matrices.push_back(std::move(matrix));
}

void AnswerReader::tell_no_number(const std::string& place, const Saying& found) {
  answer_.unknown.push_back(say({"{}: {} is no number and counts as a blank", "{}：{}，不是数，按空着处理"}, place, found));
}

// Twice the same does no harm; which of two different ones is meant nobody can tell.
void AnswerReader::refuse_another(const Node& node, const AnswerMatrix& matrix) const {
  const auto same = [&](const AnswerMatrix& other) {
    return other.axes == matrix.axes && other.blank == matrix.blank &&
           same_numbers(other.numbers.data(), matrix.numbers.data(), matrix.numbers.size());
  };
  for (const AnswerMatrix& other : answer_.matrices)
    if (other.layer == matrix.layer && other.step == matrix.step && other.is_result == matrix.is_result &&
        other.head == matrix.head && !same(other))
      fail(node,
           {"{}{} is given twice, with different numbers; remove one of the two",
            "{}{} 给出了两次，而且数不相同；请去掉一个"},
           name_of(matrix.step).id, matrix.head ? std::to_string(*matrix.head + 1) : "");
}

// A slip of the pen in a name must not pass unseen.
void AnswerReader::pass_over(const Member& member, const std::vector<std::string>& known) {
  is_problem_ = is_problem_ || (!backward_ && member.key.starts_with("W_"));
  const std::vector<std::string_view> names(known.begin(), known.end());
  answer_.unknown.push_back(say({"{} names no step and was passed over.{}", "{} 不是任何步骤的名称，已忽略。{}"},
                                quote(member.key), did_you_mean(member.key, names)));
}

// `input` is what a Source is made from.
template <typename Input>
Answer read_answer(Input input, std::string_view name) {
  Source source(input);
  Node root = read_json(source, texts_of_answer, NumberTexts::all);
  Answer answer = AnswerReader().read(root);
  if (answer.name.empty()) answer.name = name;
  return answer;
}

template <typename Input>
Answer read_named_answer(Input input, std::string_view name) {
  return under_name(name, [&] {
    Answer answer = read_answer(input, name);
    answer.name = name;
    return answer;
  });
}

bool holds_numbers(const Node& node) {
  const auto any = [](const auto& children, auto holds) { return std::any_of(children.begin(), children.end(), holds); };
  if (const Grid* grid = node.as<Grid>()) return grid->nulls.size() < grid->numbers.size();
  if (const Object* object = node.as<Object>())
    return any(*object, [](const Member& member) { return holds_numbers(member.node); });
  const List* list = node.as<List>();
  return list != nullptr &&
         any(*list, [](const Node& entry) { return holds_numbers(entry) || entry.as<Scalar>() != nullptr; });
}

}  // namespace

Answer read_answer_file(const std::string& path, const std::optional<std::string>& as) {
  if (holds_arrays(path) || holds_table(path) || holds_sheets(path)) {
    try {
      Node root = holds_table(path) ? read_table(path) : holds_sheets(path) ? read_workbook(path) : read_arrays(path, as);
      Answer answer = AnswerReader().read(root);
      answer.name = path;
      return answer;
    } catch (const InputFault& fault) {
      throw Error({"{}: {}{}{}", "{}: {}{}{}"}, path, fault.path(), fault.path().empty() ? "" : ": ", fault.sentence());
    }
  }
  const InputFile file(path);
  return read_named_answer(file.fd(), path);
}

Answer read_answer_fd(int fd, std::string_view name) {
  return read_named_answer(fd, name);
}

Answer read_answer_line(std::string_view text, std::string_view file, Index line) {
  try {
    return read_answer(text, fmt::format("{}:{}", file, line));
  } catch (const InputFault& fault) {
    throw named(file, InputFault({line, fault.position().column}, fault.path(), fault.sentence()));
  }
}

std::vector<std::pair<std::string, double>> read_points(const std::string& path) {
  constexpr Text points_expected = {"the points of each step: {\"output\": 4, \"weights\": 2}",
                                    "各步骤的分值：{\"output\": 4, \"weights\": 2}"};
  const InputFile file(path);
  return under_name(path, [&] {
    Source source(file.fd());
    Node root = read_json(source, {});
    Object* object = &expect<Object>(root, points_expected);
    for (Member& member : *object)
      if (member.key == "points") object = &expect<Object>(member.node, points_expected);
    std::vector<std::pair<std::string, double>> points;
    for (const Member& member : *object) {
      points.emplace_back(member.key, expect_number(member.node));
      if (points.back().second < 0) fail(member.node, {"points are 0 or more", "分值应为 0 或更大"});
    }
    return points;
  });
}

bool is_filled_in(const std::string& path) {
  if (holds_arrays(path) || holds_table(path) || holds_sheets(path)) {
    try {
      const Answer answer = read_answer_file(path);
      return !answer.matrices.empty() || !answer.unknown.empty();
    } catch (const Error&) {
      return true;
    }
  }
  const InputFile file(path);
  Source source(file.fd());
  try {
    return holds_numbers(read_json(source, texts_of_answer, NumberTexts::all));
  } catch (const InputFault&) {
    return source.token() != '\0' || source.previous_token() != '\0';  // an empty file is nobody's work
  }
}

std::optional<MatrixName> matrix_name(std::string_view key) {
  const std::string_view name = key.substr(0, key.find_last_not_of("0123456789") + 1);
  std::optional<Index> head;
  if (name.size() < key.size() && key[name.size()] != '0')
    if (const std::optional<Index> number = whole_number(key.substr(name.size())); number && *number <= most_heads)
      head = *number - 1;
  if (const std::optional<StepId> step = head_step(head ? name : key)) return MatrixName{*step, head};
  const std::optional<StepId> step = find_step(key, [](const StepName& row) { return !row.per_head; });
  return step ? std::optional(MatrixName{*step, {}}) : std::nullopt;
}

std::optional<StepId> step_in_torch(std::string_view key) {
  for (const auto& [name, step] : torch_names)
    if (key.ends_with(name) && (key.size() == name.size() || key[key.size() - name.size() - 1] == '.')) return step;
  return std::nullopt;
}

std::optional<int> said_layer(std::string_view key) {
  constexpr std::string_view prefix = "layer";
  const std::size_t dot = key.find('.');
  if (!key.starts_with(prefix) || dot == std::string_view::npos) return std::nullopt;
  const std::optional<Index> number = whole_number(key.substr(prefix.size(), dot - prefix.size()));
  if (!number || *number < 1 || *number > most_layers) return std::nullopt;
  return static_cast<int>(*number) - 1;
}

std::string_view without_layer(std::string_view key) {
  return said_layer(key) ? key.substr(key.find('.') + 1) : key;
}

std::optional<StepId> head_step(std::string_view key) {
  return find_step(key, [](const StepName& name) { return name.per_head; });
}

std::optional<StepId> packed_step(std::string_view key) {
  return find_step(key, [](const StepName& name) { return is_packed(name.step); });
}

std::vector<std::string> known_matrix_names() {
  std::vector<std::string> names;
  for (const StepName& step : step_names)
    for (const std::string_view name : {step.id, step.symbol})
      if (const std::string known = std::string(name) + (step.per_head ? "1" : ""); names.empty() || names.back() != known)
        names.push_back(known);
  return names;
}

}  // namespace mha::io
