// Problem files: JSON in, a checked Problem out.
#include "io/problem/problem_reader.hpp"

#include "core/utf8.hpp"
#include "io/arrays/matrix_files.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/json/reader.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

bool is_batch(const Node& node) {
  return node.as<Grid>() != nullptr && node.as<Grid>()->axes.size() == 3;
}

// n×d, or batch×n×d.
Tensor read_input(Node& node) {
  if (!is_batch(node)) return take_tensor(node, expect_matrix(node));
  const std::vector<Index> axes = expect_grid(node, Entries::numbers).axes;
  return take_tensor(node, {axes[0], 1, axes[1], axes[2]});
}

// The weights that multiply X: all of them, or those of the first head. Null where there are none.
const Node* weights_of_queries(const Fields& fields) {
  if (const Node* fused = fields["W_QKV"]) return fused;
  const Node* const node = fields["heads"];
  const List* const heads = node == nullptr ? nullptr : node->as<List>();
  if (heads == nullptr || heads->empty() || heads->front().as<Object>() == nullptr) return fields["W_Q"];
  for (const Member& member : *heads->front().as<Object>())
    if (member.key == "W_Q") return &member.node;
  return nullptr;
}

// X has as many columns as the weights take, where they say it.
[[noreturn]] void refuse_missing_X(const Fields& fields) {
  const Node* const weights = weights_of_queries(fields);
  const Grid* const grid = weights == nullptr ? nullptr : weights->as<Grid>();
  if (grid == nullptr || grid->axes.size() != 2)
    fail(fields.node(), {"\"X\" is missing; write the tokens, one row each: \"X\": [[1, 0], [0, 1]]",
                         "缺少 \"X\"；请写出各词元，每个一行：\"X\": [[1, 0], [0, 1]]"});
  const Node* const node = fields["layout"];
  const std::string* const layout = node == nullptr ? nullptr : node->as<std::string>();
  const Index width = layout != nullptr && *layout == "torch" ? grid->axes[1] : grid->axes[0];
  fail(fields.node(),
       {"\"X\" is missing; it is n×{}: write the n tokens, one row of {} each, \"X\": [[…], …], or name a file, \"X\": "
        "{{\"file\": \"X.npy\"}}",
        "缺少 \"X\"，它是 n×{}：请写出 n 个词元，每个一行 {} 个数：\"X\": [[…], …]，或指定文件：\"X\": {{\"file\": "
        "\"X.npy\"}}"},
       width, counted(width, "number"));
}

// Every key of a layer belongs in an entry of layers.
void refuse_beside_layers(const Fields& fields) {
  for (const ProblemKey& row : keys_of_problem())
    if (const Node* const node = row.part == Part::frame ? nullptr : fields[row.key])
      fail(*node,
           {"\"layers\" is given, and {} is a layer's own; write it in an entry of layers",
            "已有 \"layers\"，而 {} 属于某一层；请写到 layers 的一项里"},
           quote(row.key));
  for (const std::string_view key : {"X_kv", "tokens_kv"})
    if (const Node* const node = fields[key])
      fail(*node,
           {"{} goes with one attention, and \"layers\" is given; each layer reads what the one before it gives",
            "{} 只用于单个注意力，而这里有 \"layers\"；每一层读前一层的结果"},
           key);
}

constexpr std::string_view lists_of_labels[] = {"tokens", "tokens_kv"};

// The weights of an attention whose X is known; then the rows of the table, in its order, of the parts that may stand here.
void read_layer(const Fields& fields, Problem& problem, bool with_frame) {
  if (with_frame && fields["layers"] != nullptr) {
    refuse_beside_layers(fields);
  } else {
    read_weights(fields, problem);
    read_output_projection(fields, problem);
  }
  for (const ProblemKey& row : keys_of_problem()) {
    if (row.read == nullptr || (row.part == Part::frame && !with_frame)) continue;
    if (Node* const node = fields[row.key]) row.read(*node, problem);
  }
  check_norm_place(fields, problem);
}

Problem read_parts(Node& root) {
  const Fields fields = Fields::of_problem(root);
  Problem problem;
  read_inputs(fields, problem);
  read_layout(fields, problem);
  read_layer(fields, problem, true);
  return problem;
}

// `input` is what a Source is made from.
template <typename Input>
Problem read_problem(Input input, std::string_view name, const FileRules& rules) {
  return under_name(name, [&] {
    Source source(input);
    Node root = read_json(source, lists_of_labels);
    std::vector<std::string> files = open_matrix_files(root, name, rules);
    Problem problem = read_parts(root);
    problem.files = std::move(files);
    problem.name = name;
    return problem;
  });
}

}  // namespace

void read_layers(Node& node, Problem& problem) {
  Shape shape = problem.X.shape();
  for (Node& entry :
       expect<List>(node, {"a list of layers: [{\"heads\": …, \"W_O\": …}]", "各层的列表：[{\"heads\": …, \"W_O\": …}]"})) {
    Problem& layer = problem.layers.emplace_back();
    // What a layer behind the first one reads is not known before the run.
    layer.X = problem.layers.size() == 1 ? problem.X : by_rule(shape, [](Index, double*) { assert(false); });
    layer.batched = problem.batched;
    layer.layout = problem.layout;
    layer.tokens = problem.tokens;
    read_layer(Fields::of_layer(entry), layer, false);
    shape.cols = layer.d_result();
  }
}

void read_inputs(const Fields& fields, Problem& problem) {
  Node* const X = fields["X"];
  if (X == nullptr) refuse_missing_X(fields);
  problem.batched = is_batch(*X);
  problem.X = read_input(*X);
  Node* const X_kv = fields["X_kv"];
  if (X_kv == nullptr) return;
  const bool batched = is_batch(*X_kv);
  problem.X_kv = read_input(*X_kv);
  if (batched != problem.batched)
    fail(*X_kv,
         {"X_kv has {} and X has {}; give both a batch or neither", "X_kv {}批次，而 X {}；两者要么都有批次，要么都没有"},
         batched ? Text{"a batch", "有"} : Text{"no batch", "没有"},
         problem.batched ? Text{"one", "有"} : Text{"none", "没有"});
  const Index items = problem.X_kv->shape().batch;
  if (items != problem.batch())
    fail(*X_kv,
         {"X_kv has {} and X has {}; each item of X reads its own item of X_kv",
          "X_kv 有{}，而 X 有{}；X 的每个样本读取 X_kv 中自己的样本"},
         counted(items, "item"), counted(problem.batch(), "item"));
}

Problem read_problem_file(const std::string& path, bool allow_outside) {
  const InputFile file(path);
  return read_problem(file.fd(), path, {folder_of(path), allow_outside});
}

Problem read_problem_fd(int fd, std::string_view name, bool allow_outside) {
  return read_problem(fd, name, {".", allow_outside});
}

Problem read_problem_text(std::string_view text, std::string_view name) {
  return read_problem(text, name, {});
}

}  // namespace mha::io
