// A sentence for each thing that can be wrong with a problem: where, what was found, what was expected, how to mend it.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "io/problem/problem_text.hpp"

using namespace mha;
using namespace mha::test;

namespace {

struct Row {
  Keys own;
  std::string fault;
};

template <std::size_t count>
void check(const Row (&rows)[count]) {
  for (const Row& row : rows) {
    CAPTURE(object(row.own));
    CHECK(fault_with(row.own) == row.fault);
  }
}

Keys packed(const Keys& own) {
  Keys keys = own;
  keys.emplace_back("heads", "");
  return keys;
}

std::string fault_of_file(const std::string& path) {
  try {
    read_problem_file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("files that cannot be read") {
  namespace fs = std::filesystem;
  CHECK(fault_of_file("no_such/file.json") == "no_such/file.json: there is no such file; check the path");
  const std::string folder = fs::temp_directory_path().string();
  CHECK(fault_of_file(folder) == folder + ": this is a directory; name a file in it");
  if (::geteuid() == 0) return;  // root may read everything
  const fs::path path = fs::temp_directory_path() / ("mha_reader_test_" + std::to_string(::getpid()));
  std::ofstream(path) << "{}";
  fs::permissions(path, fs::perms::none);
  CHECK(fault_of_file(path.string()) == path.string() + ": no permission to read it; allow it with chmod +r");
  fs::remove(path);
}

TEST_CASE("what is no problem at all") {
  const std::string expected = ", expected one problem: {\"X\": …, \"heads\": …, \"W_O\": …}";
  CHECK(fault_of("") == "in:1:1: it is empty; mha reads one JSON object, {\"X\": [[1, 0], [0, 1]], …}");
  CHECK(fault_of("null") == "in:1:1: found null" + expected);
  CHECK(fault_of("[1]") == "in:1:1: found a list of 1 number" + expected);
  CHECK(fault_of("[[1, 2], [3, 4]]") == "in:1:1: found a 2×2 matrix" + expected);
  CHECK(fault_of("[]") == "in:1:1: found []" + expected);
  CHECK(fault_of(" 3") == "in:1:2: found the number 3" + expected);
  CHECK(fault_of("[\"a\"]") == "in:1:1: found a list" + expected);
  CHECK(fault_of("{\"X\": [[1]],}") ==
        "in:1:13: a comma stands before the closing '}', which JSON does not allow; remove the comma");
}

TEST_CASE("unknown keys") {
  const auto message = [](const std::string& key, const std::string& remedy) {
    return "in:1:2: unknown key \"" + key + "\"." + remedy + " A key of your own starts with _.";
  };
  for (const std::string key : {"Wq", "W_q", "wQ"})
    CHECK(fault_with({{key, "1"}}) == message(key, " Did you mean \"W_Q\"?"));
  check({
      {{{"W_0", "1"}}, message("W_0", " Did you mean \"W_O\"?")},
      {{{"haeds", "1"}}, message("haeds", " Did you mean \"heads\"?")},
      {{{"base", "1"}}, message("base", " It belongs in rope.")},
      {{{"\\u001b[2J", "1"}},
       message("\\u001b[2J",
               " Known: title, description, tokens, tokens_kv, X, X_kv, layout, heads, kv_heads, "
               "num_heads, num_kv_heads, W_Q, W_K, W_V, b_Q, b_K, b_V, W_QKV, b_QKV, W_O, "
               "b_O, mask, scale, softcap, rope, residual, norm_place, norm, mlp, mlp_norm, layers, final_norm, loss.")},
      {{{"heads", "[{\"Wk\": 1}]"}},
       "in:1:13: heads[0]: unknown key \"Wk\". Did you mean \"W_K\"? A key of your own starts with _."},
      {{{"kv_heads", "[{\"W_Q\": 1}]"}, {"heads", "[{}]"}},
       "in:1:16: kv_heads[0]: unknown key \"W_Q\". It belongs in an entry of heads. A key of your own starts with _."},
      {{{"rope", "{\"bse\": 1}"}},
       "in:1:11: rope: unknown key \"bse\". Did you mean \"base\"? A key of your own starts with _."},
  });
}

TEST_CASE("what is missing") {
  check({
      {{{"X", ""}},
       "in:1:1: \"X\" is missing; it is n×2: write the n tokens, one row of 2 numbers each, \"X\": [[…], …], or name a "
       "file, "
       "\"X\": {\"file\": \"X.npy\"}"},
      {packed({{"X", ""}, {"num_heads", "1"}, {"layout", "\"torch\""}, {"W_QKV", "[[1, 2, 3]]"}}),
       "in:1:1: \"X\" is missing; it is n×3: write the n tokens, one row of 3 numbers each, \"X\": [[…], …], or name a "
       "file, "
       "\"X\": {\"file\": \"X.npy\"}"},
      {{{"X", ""}, {"heads", ""}}, "in:1:1: \"X\" is missing; write the tokens, one row each: \"X\": [[1, 0], [0, 1]]"},
      {{{"W_O", ""}},
       "in:1:1: \"W_O\" is missing: without it the heads are never mixed; write the matrix, or \"W_O\": "
       "\"identity\" to leave them side by side on purpose"},
      {{{"heads", ""}},
       "in:1:1: \"heads\" is missing; write the weights of each head, \"heads\": [{\"W_Q\": …, \"W_K\": …, "
       "\"W_V\": …}], or packed ones with \"num_heads\""},
      {{{"heads", "[{\"W_Q\": [[1], [2]]}]"}},
       "in:1:12: heads[0]: \"W_K\" is missing here; attention needs W_Q, W_K and W_V, for each head or packed"},
      {packed({{"W_QKV", "[[1]]"}}),
       "in:1:1: \"num_heads\" is missing: packed weights hold all heads side by side; write how "
       "many, \"num_heads\": 1 for one"},
      {packed({{"num_heads", "1"}, {"W_Q", "[[1], [2]]"}}),
       "in:1:1: \"W_K\" is missing here; attention needs W_Q, W_K and W_V, for each head or packed"},
      {{{"title", "{\"en\": \"a\"}"}}, "in:1:11: title: \"zh\" is missing; write both languages, or one plain text"},
  });
}

TEST_CASE("what is no matrix of numbers") {
  const std::string finite = "; here every entry is a finite number";
  check({
      {{{"X", "[[NaN, 1]]"}},
       "in:1:9: X[0][0]: NaN stands where a number belongs; Python's json writes this, but it is no JSON" + finite},
      {{{"X", "[[1], [-Infinity]]"}},
       "in:1:14: X[1][0]: -Infinity stands where a number belongs; Python's json writes this, but it is no JSON" + finite},
      {{{"X", "[[null, 1]]"}},
       "in:1:9: X[0][0]: null stands where a number belongs; null is usually NaN or −inf from a JSON "
       "writer; write the number, or in an add mask \"-inf\""},
      {{{"X", "[[true, 1]]"}},
       "in:1:9: X[0][0]: true stands where a number belongs; booleans belong in the masks allow, block "
       "and padding; write 1 or 0"},
      {{{"X", "[[\"0.5\", 1]]"}},
       "in:1:9: X[0][0]: the text \"0.5\" stands where a number belongs; numbers are written without quotes"},
      {{{"X", "[[1, \"0.5\"]]"}},
       "in:1:12: X[0][1]: the text \"0.5\" stands where a number belongs; numbers are written without quotes"},
      {{{"X", "[[\"-inf\", null]]"}},
       "in:1:9: X[0][0]: \"-inf\" stands where a number belongs; \"-inf\" belongs in add masks" + finite},
      {{{"X", "[[1, 1e400]]"}}, "in:1:12: X[0][1]: 1e400 is too large; numbers go up to 1.797e308"},
      {{{"X", "[1, 2.5, 3]"}},
       "in:1:7: X: [1, 2.5, 3] is one-dimensional, and a matrix is a list of rows; one row is "
       "[[1, 2.5, 3]], one column is [[1], [2.5], [3]]"},
      {{{"X", "[1, 2, 3, 4, 5, 6, 7]"}},
       "in:1:7: X: a list of 7 numbers is one-dimensional, and a matrix is a list of rows; one "
       "row is [[1, 2, 3]], one column is [[1], [2], [3]]"},
      {{{"X", "[]"}}, "in:1:7: X: [] is empty; at least one number or row belongs here"},
      {{{"X", "[[], []]"}}, "in:1:7: X: its rows are empty: []; each needs at least one number: [[1, 0], [0, 1]]"},
      {{{"X", "[[[[1]]]]"}}, "in:1:7: X: found numbers of shape 1×1×1×1, expected one matrix, a list of rows"},
      {{{"X", "null"}}, "in:1:7: X: found null, expected a matrix, which is a list of rows: [[1, 0], [0, 1]]"},
      {{{"X", "{\"file\": \"x.npy\"}"}},
       "in:1:16: X.file: a problem without a folder of its own points to no files; save it as a file and write paths "
       "from there"},
      {{{"W_O", "\"identiy\""}}, "in:1:9: W_O: found \"identiy\", expected a matrix or \"identity\""},
  });
}

TEST_CASE("matrices that do not fit one another") {
  check({
      {{{"X", "[[1, 2, 3, 4]]"},
        {"heads", R"([{"W_Q": [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], "W_K": [[1]], "W_V": [[1]]}])"}},
       "in:1:41: heads[0].W_Q: X is 1×4 and W_Q is 3×4: W_Q needs 4 rows, as many as X has columns, but has 3; transposed "
       "it "
       "would fit: if your weights are stored out×in, as PyTorch's Linear stores them, write \"layout\": \"torch\""},
      {{{"X", "[[1, 2, 3]]"}},
       "in:1:38: heads[0].W_Q: X is 1×3 and W_Q is 2×2: W_Q needs 3 rows, as many as X has columns, but has 2"},
      {{{"layout", "\"torch\""}, {"heads", R"([{"W_Q": [[1], [2]], "W_K": [[1]], "W_V": [[1]]}])"}},
       "in:1:39: heads[0].W_Q: X is 2×2 and W_Q is 2×1 as stored (out×in): W_Q needs 2 columns, as many as X has columns, "
       "but has "
       "1; transposed it would fit: if your weights are stored in×out, leave \"layout\": \"torch\" out"},
      {{{"X_kv", "[[1, 2, 3]]"}},
       "in:1:89: heads[0].W_K: X_kv is 1×3 and W_K is 2×2: W_K needs 3 rows, as many as X_kv has "
       "columns, but has 2"},
      {{{"W_O", "[[1], [2], [3]]"}},
       "in:1:9: W_O: Concat is 2×2 and W_O is 3×1: W_O needs 2 rows, as many as Concat has columns, but has 3"},
      {{{"heads", R"([{"W_Q": [[1], [2]], "W_K": [[1, 2], [3, 4]], "W_V": [[1], [2]]}])"}},
       "in:1:39: heads[0].W_K: W_K gives d_k = 2 and W_Q gives d_k = 1; scores multiply queries with keys, so both are of "
       "one "
       "length"},
      {{{"heads", R"([{"W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [2]]},
                      {"W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1, 2], [3, 4]]}])"}},
       "in:2:69: heads[1].W_V: this W_V gives d_v = 2 and heads[0].W_V gives 1; all heads agree on d_v"},
      {{{"heads", R"([{"W_Q": [[1], [2]], "b_Q": [1, 2], "W_K": [[1], [2]], "W_V": [[1], [2]]}])"}},
       "in:1:39: heads[0].b_Q: b_Q has 2 numbers, expected 1, one for each column of the product with W_Q"},
      {{{"b_O", "[[1, 2]]"}, {"W_O", "[[1, 2], [3, 4]]"}},
       "in:1:9: b_O: found a 1×2 matrix, expected one list of numbers: [1, 0]"},
      {{{"b_O", "[1, 2]"}},
       "in:1:9: b_O: b_O stands beside \"W_O\": \"identity\", which is no projection and has no bias; leave "
       "b_O out, or write W_O as a matrix"},
      {{{"X_kv", "[[[1, 2]]]"}}, "in:1:10: X_kv: X_kv has a batch and X has none; give both a batch or neither"},
      {{{"X", "[[[1, 2]]]"}, {"X_kv", "[[1, 2]]"}},
       "in:1:27: X_kv: X_kv has no batch and X has one; give both a batch or neither"},
      {{{"X", "[[[1, 2]]]"}, {"X_kv", "[[[1, 2]], [[3, 4]]]"}},
       "in:1:27: X_kv: X_kv has 2 items and X has 1 item; each item of X reads its own item of X_kv"},
  });
}

TEST_CASE("heads that do not fit one another") {
  const std::string key_head = R"({"W_K": [[1], [2]], "W_V": [[1], [2]]})";
  const std::string rule = "; the number of query heads is a multiple of that of key/value heads";
  check({
      {{{"heads", R"([{"W_Q": [[1], [2]]}, {"W_Q": [[1], [2]]}, {"W_Q": [[1], [2]]}])"},
        {"kv_heads", "[" + key_head + ", " + key_head + "]"}},
       "in:1:88: kv_heads: 3 query heads cannot share 2 key/value heads" + rule},
      {packed({{"num_kv_heads", "4"}, {"num_heads", "6"}}),
       "in:1:18: num_kv_heads: 6 query heads cannot share 4 key/value heads" + rule},
      {packed({{"num_kv_heads", "2"}, {"num_heads", "1"}}),
       "in:1:18: num_kv_heads: 1 query head cannot share 2 key/value heads" + rule},
      {{{"kv_heads", "[" + key_head + "]"}},
       "in:1:122: heads[0].W_K: \"kv_heads\" hold the key and value weights, so heads hold W_Q, b_Q and name alone"},
      {{{"num_heads", "1"}},
       "in:1:15: num_heads: this goes with packed weights, and \"heads\" is given as well; write one of the two forms"},
      {{{"b_K", "[1]"}},
       "in:1:9: b_K: weights of all heads packed, and \"heads\" is given as well; write one of the two forms"},
      {packed({{"kv_heads", "[]"}, {"num_heads", "1"}}),
       "in:1:14: kv_heads: \"kv_heads\" goes with \"heads\"; for packed weights write the count: \"num_kv_heads\": 2"},
      {{{"heads", "[]"}}, "in:1:11: heads: the list is empty; attention needs at least one head"},
      {{{"heads", "2"}}, "in:1:11: heads: found the number 2, expected a list of heads: [{\"W_Q\": …}]"},
      {{{"heads", "[{}, 1]"}},
       "in:1:16: heads[1]: found the number 1, expected a head: {\"W_Q\": …, \"W_K\": …, \"W_V\": …}"},
  });
}

TEST_CASE("packed weights that do not divide") {
  const std::string ten = "[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]";
  const std::string two = "[[1, 2], [1, 2]]", four = "[[1, 2, 3, 4], [1, 2, 3, 4]]", three = "[[1, 2, 3], [1, 2, 3]]";
  const std::string each = "; each head has as many as every other";
  check({
      {packed({{"W_Q", ten}, {"num_heads", "4"}, {"W_K", four}, {"W_V", four}}),
       "in:1:9: W_Q: 10 columns do not divide into 4 heads" + each},
      {packed({{"W_K", three}, {"num_heads", "4"}, {"num_kv_heads", "2"}, {"W_Q", four}, {"W_V", two}}),
       "in:1:9: W_K: 3 columns do not divide into 2 key/value heads" + each},
      {packed({{"W_V", three}, {"num_heads", "2"}, {"W_Q", four}, {"W_K", four}}),
       "in:1:9: W_V: 3 columns do not divide into 2 heads" + each},
      {packed({{"W_K", two}, {"num_heads", "2"}, {"W_Q", four}, {"W_V", two}}),
       "in:1:9: W_K: W_K gives d_k = 1 and W_Q gives d_k = 2; scores multiply queries with keys, so both are of one "
       "length"},
      {packed({{"W_QKV", four}, {"num_heads", "2"}}),
       "in:1:11: W_QKV: 4 columns do not divide into 2 heads of queries, 2 of keys and 2 of values" + each},
      {packed({{"W_QKV", two}, {"layout", "\"torch\""}, {"num_heads", "1"}}),
       "in:1:11: W_QKV: 2 rows do not divide into 1 heads of queries, 1 of keys and 1 of values" + each},
      {packed({{"W_QKV", four}, {"X_kv", "[[1, 2]]"}, {"num_heads", "2"}}),
       "in:1:11: W_QKV: W_QKV makes queries, keys and values from one X, and X_kv is given as well; write W_Q, W_K and "
       "W_V"},
      {packed({{"b_Q", "[1]"}, {"W_QKV", four}, {"num_heads", "2"}}),
       "in:1:9: b_Q: W_QKV holds W_Q, W_K and W_V already; write one of the two forms"},
      {packed({{"b_QKV", "[1]"}, {"W_Q", four}, {"num_heads", "2"}}),
       "in:1:11: b_QKV: b_QKV goes with W_QKV; beside W_Q, W_K and W_V write b_Q, b_K and b_V"},
      {packed({{"num_heads", "0"}}), "in:1:15: num_heads: found 0, expected a count of at least 1"},
      {packed({{"num_heads", "1.5"}}), "in:1:15: num_heads: found the number 1.5, expected an integer of at most 2^53"},
      {packed({{"num_heads", "1e18"}}), "in:1:15: num_heads: found the number 1e18, expected an integer of at most 2^53"},
      {packed({{"W_Q", two}, {"num_heads", "9007199254740992"}, {"W_K", two}, {"W_V", two}}),
       "in:1:9: W_Q: 2 columns do not divide into 9007199254740992 heads" + each},
      {{{"layout", "\"pytorch\""}},
       "in:1:12: layout: unknown layout \"pytorch\". Did you mean \"torch\"? Known: \"x@W\" (weights "
       "in×out, the default), \"torch\" (weights out×in)"},
  });
}

TEST_CASE("labels that do not fit") {
  check({
      {{{"tokens", "[\"a\"]"}}, "in:1:12: tokens: 1 label for 2 rows of X; each row has one"},
      {{{"tokens", "[]"}}, "in:1:12: tokens: 0 labels for 2 rows of X; each row has one"},
      {{{"tokens", "[\"a\", 1]"}},
       "in:1:18: tokens[1]: found the number 1, expected a label, which is a text in double quotes"},
      {{{"tokens", "[\"a\", [\"b\"]]"}},
       "in:1:18: tokens[1]: found a list, expected a label, which is a text in double quotes"},
      {{{"tokens", "[[\"a\", \"b\"]]"}},
       "in:1:12: tokens: lists of labels, but X has no batch; write one list: [\"the\", \"cat\"]"},
      {{{"tokens", "[[\"a\"], [\"b\"]]"}, {"X", "[[[1, 2]]]"}},
       "in:1:12: tokens: 2 lists of labels for 1 item of X; write one for each, or one for all"},
      {{{"tokens", "[[\"a\"], \"b\"]"}, {"X", "[[[1, 2]], [[1, 2]]]"}},
       "in:1:20: tokens[1]: found the text \"b\", expected a list of labels: [\"the\", \"cat\"]"},
      {{{"tokens", "\"ab\""}}, "in:1:12: tokens: found the text \"ab\", expected a list of labels: [\"the\", \"cat\"]"},
      {{{"tokens_kv", "[\"a\", \"b\"]"}},
       "in:1:15: tokens_kv: tokens_kv labels the rows of X_kv, and there is no X_kv; keys are labelled by tokens then"},
      {{{"title", "3"}}, "in:1:11: title: found the number 3, expected a text, or {\"en\": \"…\", \"zh\": \"…\"}"},
      {{{"title", "\"\xC3\""}}, "in:1:13: a text holds bytes that are no UTF-8; save the file as UTF-8"},
  });
}

TEST_CASE("rules that cannot be") {
  const std::string pairs = ", expected an even number from 2 to d_k = 2: columns turn in pairs";
  check({
      {{{"scale", "\"half\""}},
       "in:1:11: scale: found \"half\", expected a number or \"none\"; without the key the scale is 1/√d_k"},
      {{{"scale", "null"}}, "in:1:11: scale: found null, expected a finite number"},
      {{{"scale", "NaN"}}, "in:1:11: scale: found the number NaN, expected a finite number"},
      {{{"softcap", "0"}}, "in:1:13: softcap: found 0, expected a number above 0"},
      {{{"softcap", "Infinity"}}, "in:1:13: softcap: found the number Infinity, expected a finite number"},
      {{{"rope", "true"}}, "in:1:10: rope: found true, expected an object, {} for the usual rotary positions"},
      {{{"rope", "{\"base\": -1}"}}, "in:1:19: rope.base: found -1, expected a number above 0"},
      {{{"rope", "{\"dims\": 1}"}}, "in:1:19: rope.dims: found 1" + pairs},
      {{{"rope", "{\"dims\": 4}"}}, "in:1:19: rope.dims: found 4" + pairs},
      {{{"rope", "{\"dims\": 0}"}}, "in:1:19: rope.dims: found 0" + pairs},
      {{{"rope", "{}"},
        {"heads", R"([{"W_Q": [[1, 2, 3], [4, 5, 6]], "W_K": [[1, 2, 3], [4, 5, 6]], "W_V": [[1], [2]]}])"}},
       "in:1:10: rope: d_k = 3 is odd, but columns turn in pairs; write how many turn, \"dims\": 2"},
      {{{"rope", "{}"}, {"heads", R"([{"W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [2]]}])"}},
       "in:1:10: rope: d_k = 1 is odd, but columns turn in pairs; write how many turn, which takes a d_k of at least 2"},
      {{{"rope", "{\"pairing\": \"haf\"}"}},
       "in:1:22: rope.pairing: unknown pairing \"haf\". Did you mean \"half\"? Known: \"half\" (column t with t + dims/2), "
       "\"interleaved\" (2t with 2t + 1)"},
      {{{"rope", "{\"positions\": [1]}"}}, "in:1:24: rope.positions: found 1 number, expected 2, one for each row of X"},
      {{{"rope", "{\"positions_kv\": [1, 2, 3]}"}},
       "in:1:27: rope.positions_kv: found 3 numbers, expected 2, one for each key"},
      {{{"rope", "{\"positions\": [1, 1.5]}"}}, "in:1:24: rope.positions[1]: found 1.5, expected an integer"},
      {{{"rope", "{\"start\": 1e300}"}},
       "in:1:20: rope.start: found the number 1e300, expected an integer of at most 2^53"},
  });
}

TEST_CASE("blocks and stacks") {
  const std::string mlp = R"("W_1": [[1, 2, 3], [4, 5, 6]], "W_2": [[1, 2], [3, 4], [5, 6]])";
  check({
      {{{"residual", "1"}}, "in:1:14: residual: found the number 1, expected true or false"},
      {{{"residual", "true"}, {"W_O", "[[1], [2]]"}},
       "in:1:14: residual: what the attention reads has 2 columns, what the attention gives 1 column: a residual sum "
       "needs both of one width"},
      {{{"norm", "{}"}}, "in:1:10: norm: \"kind\" is missing; write \"kind\": \"layer\" or \"kind\": \"rms\""},
      {{{"norm", R"({"kind": "batch"})"}}, "in:1:19: norm.kind: unknown: \"batch\". Known: layer, rms."},
      {{{"norm", R"({"kind": "rms", "beta": [1, 2]})"}},
       "in:1:34: norm.beta: an rms norm takes no mean off and has no beta; leave it out, or write \"kind\": \"layer\""},
      {{{"norm", R"({"kind": "layer", "gamma": [1]})"}},
       "in:1:37: norm.gamma: 1 number, expected 2, one for each column of what the attention reads"},
      {{{"norm", R"({"kind": "layer", "eps": -1})"}}, "in:1:35: norm.eps: found -1, expected a number from 0 on"},
      {{{"norm_place", "\"pre\""}},
       "in:1:16: norm_place: norm_place says where norms stand, and there is neither a \"norm\" nor an \"mlp_norm\""},
      {{{"mlp_norm", R"({"kind": "layer"})"}},
       "in:1:14: mlp_norm: mlp_norm is the norm of an MLP, and there is no \"mlp\""},
      {{{"mlp", "{" + mlp + "}"}},
       "in:1:9: mlp: \"activation\" is missing; write one of none, relu, gelu, gelu_tanh, silu"},
      {{{"mlp", R"({"activation": "gelo", )" + mlp + "}"}},
       "in:1:24: mlp.activation: unknown: \"gelo\". Did you mean \"gelu\"?"},
      {{{"mlp", R"({"activation": "relu", "b_gate": [1], )" + mlp + "}"}},
       "in:1:42: mlp.b_gate: b_gate goes with W_gate, and there is none"},
      {{{"mlp", R"({"activation": "silu", "W_gate": [[1], [2]], )" + mlp + "}"}},
       "in:1:42: mlp.W_gate: W_gate gives 1 column and W_1 gives 3 columns; they are multiplied entry by entry"},
      {{{"final_norm", R"({"kind": "layer", "gamma": [1, 2, 3]})"}},
       "in:1:43: final_norm.gamma: 3 numbers, expected 2, one for each column of the result"},
      {{{"layers", "[]"}, {"heads", ""}, {"W_O", ""}},
       "in:1:12: layers: found [], expected a list of layers: [{\"heads\": …, \"W_O\": …}]"},
      {{{"layers", R"([{"title": "a"}])"}, {"heads", ""}, {"W_O", ""}},
       "in:1:14: layers[0]: unknown key \"title\". It belongs in the problem itself. A key of your own starts with _."},
      {{{"mask", "\"causal\""}, {"layers", "[{}]"}, {"heads", ""}, {"W_O", ""}},
       "in:1:10: mask: \"layers\" is given, and \"mask\" is a layer's own; write it in an entry of layers"},
      {{{"tokens_kv", "[\"a\"]"}, {"layers", "[{}]"}, {"heads", ""}, {"W_O", ""}},
       "in:1:15: tokens_kv: tokens_kv goes with one attention, and \"layers\" is given; each layer reads what the one "
       "before "
       "it gives"},
  });
}
