// The weights, of each head or packed, and the output projection.

#include <initializer_list>

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

constexpr std::string_view layouts[] = {"x@W", "torch"};

// Fails with the sentence at the first of these keys that is given.
void refuse_keys(const Fields& fields, std::initializer_list<std::string_view> keys, const Text& sentence) {
  for (const std::string_view key : keys)
    if (const Node* node = fields[key]) fail(*node, sentence);
}

// W_Q and b_Q, or those of keys or values, from the objects that hold them: heads, or the problem itself.
Linear take_projection(std::string_view name, const std::vector<Fields>& places, const OperandShape& operand, Layout layout,
                       bool others_fit) {
  LinearNodes nodes{name, name == "V" ? "d_v" : "d_k", {}, {}, others_fit};
  for (const Fields& fields : places) {
    nodes.W.push_back(fields[fmt::format("W_{}", name)]);
    nodes.b.push_back(fields[fmt::format("b_{}", name)]);
    if (nodes.W.back() == nullptr)
      fail(fields.node(),
           {"\"W_{}\" is missing here; attention needs W_Q, W_K and W_V, for each head or packed",
            "这里缺少 \"W_{}\"；注意力需要 W_Q、W_K 和 W_V，每个头一份，或各头合在一起"},
           name);
  }
  return take_linear(nodes, operand, layout);
}

// Fills Q, K and V of the problem, whose X, X_kv and layout are known.
void take_projections(const std::vector<Fields>& query_places, const std::vector<Fields>& key_places, Problem& problem) {
  const OperandShape query_operand{{"X", "X"}, problem.queries(), problem.d_model()};
  const OperandShape key_operand{problem.X_kv ? Text{"X_kv", "X_kv"} : Text{"X", "X"}, problem.keys(), problem.d_kv()};
  const auto any_lies_so = [&](std::string_view key, const std::vector<Fields>& places, const OperandShape& operand) {
    return std::any_of(places.begin(), places.end(), [&](const Fields& fields) {
      return fields[key] != nullptr && lies_so(*fields[key], operand, problem.layout);
    });
  };
  const bool q = any_lies_so("W_Q", query_places, query_operand), k = any_lies_so("W_K", key_places, key_operand),
             v = any_lies_so("W_V", key_places, key_operand);
  problem.Q = take_projection("Q", query_places, query_operand, problem.layout, k || v);
  problem.K = take_projection("K", key_places, key_operand, problem.layout, q || v);
  problem.V = take_projection("V", key_places, key_operand, problem.layout, q || k);
}

void check_groups(const Node& node, const Problem& problem) {
  if (problem.heads % problem.kv_heads != 0)
    fail(node,
         {"{} cannot share {}; the number of query heads is a multiple of that of key/value heads",
          "{}不能均分 {}；查询头数应为键值头数的倍数"},
         counted(problem.heads, "query head"), counted(problem.kv_heads, "key/value head"));
}

void check_d_k(const Node& node, Index d_k_of_keys, Index d_k_of_queries) {
  if (d_k_of_keys != d_k_of_queries)
    fail(node,
         {"W_K gives d_k = {} and W_Q gives d_k = {}; scores multiply queries with keys, so both are of one length",
          "W_K 给出 d_k = {}，而 W_Q 给出 d_k = {}；分数由查询乘键得来，两者长度应当相同"},
         d_k_of_keys, d_k_of_queries);
}

// Lists of nothing, or of what stands for numbers, are read as lists of numbers.
List& expect_heads(Node& node) {
  if (const Grid* grid = node.as<Grid>(); grid != nullptr && grid->axes.front() == 0)
    fail(node, {"the list is empty; attention needs at least one head", "列表是空的；注意力至少要有一个头"});
  if (const Grid* grid = node.as<Grid>(); grid != nullptr && !grid->odd.empty())
    throw InputFault(grid->odd.front().position, grid->odd.front().path,
                     {"found {}, expected a head: {{\"W_Q\": …, \"W_K\": …, \"W_V\": …}}",
                      "这里是{}，应为一个头：{{\"W_Q\": …, \"W_K\": …, \"W_V\": …}}"},
                     grid->odd.front().found);
  return expect<List>(node, {"a list of heads: [{\"W_Q\": …}]", "各头的列表：[{\"W_Q\": …}]"});
}

std::vector<Fields> read_query_heads(Node& node, Problem& problem) {
  std::vector<Fields> heads;
  for (Node& head : expect_heads(node)) {
    const Fields& fields = heads.emplace_back(
        head, head_keys,
        Text{"a head: {\"W_Q\": …, \"W_K\": …, \"W_V\": …}", "一个头：{\"W_Q\": …, \"W_K\": …, \"W_V\": …}"});
    const Node* const name = fields["name"];
    if (name != nullptr) problem.head_names.resize(heads.size());
    if (name != nullptr) problem.head_names.back() = expect_text(*name);
  }
  if (!problem.head_names.empty()) problem.head_names.resize(heads.size());
  problem.heads = problem.kv_heads = static_cast<Index>(heads.size());
  return heads;
}

std::vector<Fields> read_kv_heads(Node& node, const std::vector<Fields>& heads, Problem& problem) {
  for (const Fields& head : heads)
    refuse_keys(head, {"W_K", "b_K", "W_V", "b_V"},
                {"\"kv_heads\" hold the key and value weights, so heads hold W_Q, b_Q and name alone",
                 "键和值的权重矩阵在 \"kv_heads\" 中，因此 heads 中只写 W_Q、b_Q 和 name"});
  std::vector<Fields> kv_heads;
  for (Node& head : expect_heads(node))
    kv_heads.emplace_back(head, kv_head_keys,
                          Text{"a key/value head: {\"W_K\": …, \"W_V\": …}", "一个键值头：{\"W_K\": …, \"W_V\": …}"});
  problem.kv_heads = static_cast<Index>(kv_heads.size());
  problem.grouped = true;
  check_groups(node, problem);
  return kv_heads;
}

// The lists `heads` and, where there are any, `kv_heads`.
void read_per_head(const Fields& fields, Problem& problem) {
  refuse_keys(fields, {"num_heads", "num_kv_heads", "W_QKV", "b_QKV"},
              {"this goes with packed weights, and \"heads\" is given as well; write one of the two forms",
               "它与合并的权重矩阵一起用，而这里还给出了 \"heads\"；两种写法请选一种"});
  refuse_keys(fields, {"W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V"},
              {"weights of all heads packed, and \"heads\" is given as well; write one of the two forms",
               "这是各头合并的权重矩阵，而这里还给出了 \"heads\"；两种写法请选一种"});
  const std::vector<Fields> heads = read_query_heads(*fields["heads"], problem);
  Node* const kv_node = fields["kv_heads"];
  const std::vector<Fields> kv_heads = kv_node == nullptr ? heads : read_kv_heads(*kv_node, heads, problem);
  take_projections(heads, kv_heads, problem);
  check_d_k(*kv_heads.front()["W_K"], width_of(problem.K.W.shape(), problem.layout), problem.d_k());
}

Index read_count(const Node& node) {
  const Index count = expect_integer(node);
  if (count < 1) fail(node, {"found {}, expected a count of at least 1", "这里是 {}，应为 1 或更大的个数"}, count);
  return count;
}

void read_counts(const Fields& fields, Problem& problem) {
  const Node* const heads = fields["num_heads"];
  const Node* const kv_heads = fields["num_kv_heads"];
  if (heads == nullptr)
    fail(fields.node(),
         {"\"num_heads\" is missing: packed weights hold all heads side by side; write how many, \"num_heads\": 1 for one",
          "缺少 \"num_heads\"：合并的权重矩阵把各头并排放在一起；请写出头数，只有一个头时写 \"num_heads\": 1"});
  problem.heads = problem.kv_heads = read_count(*heads);
  if (kv_heads == nullptr) return;
  problem.grouped = true;
  problem.kv_heads = read_count(*kv_heads);
  check_groups(*kv_heads, problem);
}

// What each head gets of the columns of X·W.
Index share(const Node& node, const Linear& linear, Layout layout, Index heads, const Saying& heads_text) {
  const Index columns = width_of(linear.W.shape(), layout);
  if (columns % heads != 0)
    fail(node, {"{} do not divide into {}; each head has as many as every other", "{}不能分给 {}；每个头分到的应当一样多"},
         counted(columns, layout == Layout::torch ? "row" : "column"), heads_text);
  return columns / heads;
}

void read_separate(const Fields& fields, Problem& problem) {
  refuse_keys(fields, {"b_QKV"},
              {"b_QKV goes with W_QKV; beside W_Q, W_K and W_V write b_Q, b_K and b_V",
               "b_QKV 与 W_QKV 一起用；W_Q、W_K 和 W_V 旁边写 b_Q、b_K 和 b_V"});
  take_projections({fields}, {fields}, problem);
  const Saying query_heads = counted(problem.heads, "head");
  const Saying kv_heads = counted(problem.kv_heads, problem.grouped ? "key/value head" : "head");
  const Index d_k_of_queries = share(*fields["W_Q"], problem.Q, problem.layout, problem.heads, query_heads);
  const Index d_k_of_keys = share(*fields["W_K"], problem.K, problem.layout, problem.kv_heads, kv_heads);
  check_d_k(*fields["W_K"], d_k_of_keys, d_k_of_queries);
  share(*fields["W_V"], problem.V, problem.layout, problem.kv_heads, kv_heads);
}

// Columns of X·W_QKV: all query heads, all key heads, all value heads, each d_k wide.
void read_fused(const Fields& fields, Problem& problem) {
  Node& node = *fields["W_QKV"];
  if (problem.X_kv)
    fail(node, {"W_QKV makes queries, keys and values from one X, and X_kv is given as well; write W_Q, W_K and W_V",
                "W_QKV 由同一个 X 得出查询、键和值，而这里还给出了 X_kv；请写 W_Q、W_K 和 W_V"});
  refuse_keys(fields, {"W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V"},
              {"W_QKV holds W_Q, W_K and W_V already; write one of the two forms",
               "W_QKV 已包含 W_Q、W_K 和 W_V；两种写法请选一种"});
  const OperandShape operand{{"X", "X"}, problem.queries(), problem.d_model()};
  const Linear whole = take_linear({"QKV", "d_k", {&node}, {fields["b_QKV"]}, false}, operand, problem.layout);
  const Index heads_in_all = problem.heads + 2 * problem.kv_heads;
  const Saying heads_text =
      say({"{0} heads of queries, {1} of keys and {1} of values", "查询的 {0} 个头、键的 {1} 个头和值的 {1} 个头"},
          problem.heads, problem.kv_heads);
  const Index d_k = share(node, whole, problem.layout, heads_in_all, heads_text);
  const Index query_columns = problem.heads * d_k;
  const Index key_columns = problem.kv_heads * d_k;
  problem.fused = true;
  problem.Q = cut(whole, 0, query_columns, problem.layout);
  problem.K = cut(whole, query_columns, key_columns, problem.layout);
  problem.V = cut(whole, query_columns + key_columns, key_columns, problem.layout);
}

void read_packed(const Fields& fields, Problem& problem) {
  refuse_keys(fields, {"kv_heads"},
              {"\"kv_heads\" goes with \"heads\"; for packed weights write the count: \"num_kv_heads\": 2",
               "\"kv_heads\" 与 \"heads\" 一起用；合并的权重矩阵请写个数：\"num_kv_heads\": 2"});
  problem.packed = true;
  read_counts(fields, problem);
  if (fields["W_QKV"] != nullptr) {
    read_fused(fields, problem);
  } else {
    read_separate(fields, problem);
  }
}

bool has_packed_weights(const Fields& fields) {
  for (const std::string_view key : {"num_heads", "W_QKV", "W_Q", "W_K", "W_V"})
    if (fields[key] != nullptr) return true;
  return false;
}

}  // namespace

void read_layout(const Fields& fields, Problem& problem) {
  if (const Node* const layout = fields["layout"])
    problem.layout = static_cast<Layout>(
        expect_choice(*layout, layouts,
                      {"unknown layout {}.{} Known: \"x@W\" (weights in×out, the default), \"torch\" (weights out×in)",
                       "不认识的存放方式 {}。{}可以写 \"x@W\"（权重矩阵为输入×输出，默认）、\"torch\"（输出×输入）"}));
}

void read_weights(const Fields& fields, Problem& problem) {
  if (fields["heads"] != nullptr) {
    read_per_head(fields, problem);
  } else if (has_packed_weights(fields)) {
    read_packed(fields, problem);
  } else {
    fail(fields.node(), {"\"heads\" is missing; write the weights of each head, \"heads\": [{\"W_Q\": …, \"W_K\": …, "
                         "\"W_V\": …}], or packed ones with \"num_heads\"",
                         "缺少 \"heads\"；请写出每个头的权重矩阵：\"heads\": [{\"W_Q\": …, \"W_K\": …, \"W_V\": "
                         "…}]，或写合并的权重矩阵和 \"num_heads\""});
  }
}

void read_output_projection(const Fields& fields, Problem& problem) {
  Node* const W_O = fields["W_O"];
  Node* const b_O = fields["b_O"];
  if (W_O == nullptr)
    fail(fields.node(),
         {"\"W_O\" is missing: without it the heads are never mixed; write the matrix, or \"W_O\": \"identity\" to leave "
          "them side by side on purpose",
          "缺少 \"W_O\"：没有它，各头的结果就不会混合；请写出矩阵，或写 \"W_O\": \"identity\"，表示有意让各头并排"});
  if (const std::string* text = W_O->as<std::string>()) {
    if (*text != "identity")
      fail(*W_O, {"found {}, expected a matrix or \"identity\"", "这里是 {}，应为矩阵或 \"identity\""}, quote(*text));
    if (b_O != nullptr)
      fail(*b_O, {"b_O stands beside \"W_O\": \"identity\", which is no projection and has no bias; leave b_O out, or "
                  "write W_O as a matrix",
                  "b_O 与 \"W_O\": \"identity\" 写在一起，而后者不是投影，没有偏置；请去掉 b_O，或把 W_O 写成矩阵"});
    problem.output_is_concat = true;
    return;
  }
  const OperandShape concat{{"Concat", "Concat"}, problem.queries(), problem.heads * problem.d_v()};
  // The others have been read.
  problem.O = take_linear({"O", "d_out", {W_O}, {b_O}, !problem.fused}, concat, problem.layout);
}

}  // namespace mha::io
