// Every form that a problem file may take, read as what it means.
#include "io/problem/problem_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "catch.hpp"
#include "io/problem/problem_text.hpp"

using namespace mha;
using namespace mha::test;

namespace {

std::vector<double> numbers(const Tensor& tensor) {
  return {tensor.data(), tensor.data() + tensor.size()};
}

constexpr auto two_heads = R"([{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5, 6], [7, 8]], "b_Q": [9], "name": "left"},
  {"W_Q": [[11], [12]], "W_K": [[13], [14]], "W_V": [[15, 16], [17, 18]], "b_V": [19, 20]}])";

const Keys no_heads = {{"heads", ""}};

Keys operator+(Keys a, const Keys& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("all cases are read") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MHA_TESTS_DIR "/cases")) {
    CAPTURE(entry.path().string());
    CHECK_NOTHROW(read_problem_file((entry.path() / "problem.json").string()));
    ++count;
  }
  CHECK(count >= 36);
}

TEST_CASE("the worked example") {
  const Problem problem = read_problem_file(MHA_TESTS_DIR "/cases/worked_3x4/problem.json");
  CHECK(problem.title.en == "Worked 3×4 example");
  CHECK_FALSE(problem.title.bilingual);
  CHECK(problem.tokens == Labels{{"token1", "token2", "token3"}});
  CHECK(numbers(problem.X) == std::vector<double>{1, 0, 1, 2, 0, 2, 1, 0, 1, 1, 0, 1});
  CHECK_FALSE(problem.batched);
  CHECK(problem.heads == 2);
  CHECK(problem.kv_heads == 2);
  CHECK(problem.d_k() == 2);
  CHECK(problem.d_v() == 2);
  CHECK(problem.d_out() == 4);
  CHECK(problem.masks.empty());
  CHECK_FALSE(problem.output_is_concat);
}

TEST_CASE("weights of each head lie on top of one another") {
  const Problem problem = read_with({{"heads", two_heads}});
  CHECK(problem.Q.W.shape() == Shape{1, 2, 2, 1});
  CHECK(numbers(problem.Q.W) == std::vector<double>{1, 2, 11, 12});
  CHECK(numbers(problem.K.W) == std::vector<double>{3, 4, 13, 14});
  CHECK(problem.V.W.shape() == Shape{1, 2, 2, 2});
  CHECK(numbers(problem.V.W) == std::vector<double>{5, 6, 7, 8, 15, 16, 17, 18});
  CHECK(problem.head_names == std::vector<std::string>{"left", ""});
  CHECK_FALSE(problem.packed);
  CHECK_FALSE(problem.grouped);
}

TEST_CASE("a head without a bias has one of zeros beside a head with one") {
  const Problem problem = read_with({{"heads", two_heads}});
  CHECK(problem.Q.b->shape() == Shape{1, 2, 1, 1});
  CHECK(numbers(*problem.Q.b) == std::vector<double>{9, 0});
  CHECK(numbers(*problem.V.b) == std::vector<double>{0, 0, 19, 20});
  CHECK_FALSE(problem.K.b);
}

TEST_CASE("grouped heads") {
  const Problem problem = read_with({{"heads", R"([{"W_Q": [[1], [2]]}, {"W_Q": [[3], [4]], "b_Q": [5]}])"},
                                     {"kv_heads", R"([{"W_K": [[6], [7]], "b_K": [8], "W_V": [[9], [10]]}])"}});
  CHECK(problem.grouped);
  CHECK(problem.heads == 2);
  CHECK(problem.kv_heads == 1);
  CHECK(numbers(problem.K.W) == std::vector<double>{6, 7});
  CHECK(numbers(*problem.K.b) == std::vector<double>{8});
  CHECK(numbers(*problem.Q.b) == std::vector<double>{0, 5});
}

TEST_CASE("packed weights") {
  const Keys weights = {{"num_heads", "4"},
                        {"num_kv_heads", "2"},
                        {"W_Q", "[[1, 2, 3, 4], [5, 6, 7, 8]]"},
                        {"W_K", "[[1, 2], [3, 4]]"},
                        {"W_V", "[[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]"},
                        {"b_V", "[1, 2, 3, 4, 5, 6]"}};
  const Problem problem = read_with(no_heads + weights);
  CHECK(problem.packed);
  CHECK_FALSE(problem.fused);
  CHECK(problem.grouped);
  CHECK(problem.heads == 4);
  CHECK(problem.kv_heads == 2);
  CHECK(problem.d_k() == 1);
  CHECK(problem.d_v() == 3);
  CHECK(problem.Q.W.shape() == Shape{1, 1, 2, 4});
  CHECK(problem.V.b->shape() == Shape{1, 1, 1, 6});
}

TEST_CASE("num_kv_heads is num_heads unless given") {
  const Problem problem = read_with(
      no_heads +
      Keys{{"num_heads", "2"}, {"W_Q", "[[1, 2], [1, 2]]"}, {"W_K", "[[1, 2], [1, 2]]"}, {"W_V", "[[1, 2], [1, 2]]"}});
  CHECK(problem.kv_heads == 2);
  CHECK_FALSE(problem.grouped);
}

TEST_CASE("W_QKV is cut by columns: all queries, all keys, all values") {
  const Problem problem =
      read_with(no_heads + Keys{{"num_heads", "2"},
                                {"num_kv_heads", "1"},
                                {"W_QKV", "[[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]]"},
                                {"b_QKV", "[1, 2, 3, 4, 5, 6, 7, 8]"}});
  CHECK(problem.packed);
  CHECK(problem.fused);
  CHECK(problem.d_k() == 2);
  CHECK(problem.d_v() == 2);
  CHECK(numbers(problem.Q.W) == std::vector<double>{1, 2, 3, 4, 11, 12, 13, 14});
  CHECK(numbers(problem.K.W) == std::vector<double>{5, 6, 15, 16});
  CHECK(numbers(problem.V.W) == std::vector<double>{7, 8, 17, 18});
  CHECK(numbers(*problem.Q.b) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers(*problem.V.b) == std::vector<double>{7, 8});
}

TEST_CASE("with layout torch weights stay out×in, and W_QKV is cut by rows") {
  const Problem fused = read_with(
      no_heads +
      Keys{{"layout", "\"torch\""}, {"num_heads", "1"}, {"W_QKV", "[[1, 2], [3, 4], [5, 6]]"}, {"b_QKV", "[1, 2, 3]"}});
  CHECK(fused.layout == Layout::torch);
  CHECK(fused.d_k() == 1);
  CHECK(numbers(fused.K.W) == std::vector<double>{3, 4});
  CHECK(fused.K.W.shape() == Shape{1, 1, 1, 2});
  const Problem per_head = read_with({{"layout", "\"torch\""},
                                      {"heads", R"([{"W_Q": [[1, 2]], "W_K": [[1, 2]], "W_V": [[1, 2], [3, 4], [5, 6]]}])"},
                                      {"W_O", "[[1, 2, 3], [4, 5, 6]]"},
                                      {"b_O", "[1, 2]"}});
  CHECK(per_head.d_v() == 3);
  CHECK(per_head.d_out() == 2);
  CHECK(per_head.O.b->shape() == Shape{1, 1, 1, 2});
  CHECK(read_with({{"layout", "\"x@W\""}}).layout == Layout::x_at_w);
}

TEST_CASE("a batch, and keys from elsewhere") {
  const Problem problem = read_with({{"X", "[[[1, 2]], [[3, 4]]]"},
                                     {"X_kv", "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]"},
                                     {"tokens", "[\"q\"]"},
                                     {"tokens_kv", "[[\"a\", \"b\"], [\"c\", \"d\"]]"}});
  CHECK(problem.batched);
  CHECK(problem.X.shape() == Shape{2, 1, 1, 2});
  CHECK(problem.X_kv->shape() == Shape{2, 1, 2, 2});
  CHECK(problem.queries() == 1);
  CHECK(problem.keys() == 2);
  CHECK(problem.tokens == Labels{{"q"}});
  CHECK(problem.tokens_kv == Labels{{"a", "b"}, {"c", "d"}});
  CHECK(read_with({{"X", "[[[1, 2]]]"}}).batched);
}

TEST_CASE("labels and captions are kept as they are") {
  const Problem problem = read_with({{"tokens", R"(["-inf", "\u001b[2J\n\u202e"])"},
                                     {"title", R"({"zh": "标题", "en": "Title"})"},
                                     {"description", "\"\""}});
  CHECK(problem.tokens == Labels{{"-inf", "\x1b[2J\n\u202e"}});
  CHECK(problem.title.bilingual);
  CHECK(problem.title.in(Language::zh) == "标题");
  CHECK(problem.title.in(Language::en) == "Title");
  CHECK(problem.description.empty());
}

TEST_CASE("W_O is a matrix, or the concatenation stays on purpose") {
  CHECK(read_with({}).output_is_concat);
  const Problem problem = read_with({{"W_O", "[[1, 2, 3], [4, 5, 6]]"}, {"b_O", "[7, 8, 9]"}});
  CHECK_FALSE(problem.output_is_concat);
  CHECK(problem.O.W.shape() == Shape{1, 1, 2, 3});
  CHECK(problem.d_out() == 3);
}

TEST_CASE("scale and softcap") {
  CHECK(read_with({}).scale.kind == Scale::Kind::inverse_root_of_d_k);
  CHECK(read_with({{"scale", "\"none\""}}).scale.kind == Scale::Kind::none);
  const Problem problem = read_with({{"scale", "-0.125"}, {"softcap", "50"}});
  CHECK(problem.scale.kind == Scale::Kind::number);
  CHECK(problem.scale.number == -0.125);
  CHECK(*problem.softcap == 50);
  CHECK(read_with({{"scale", "0"}}).scale.number == 0);
}

TEST_CASE("rotary positions") {
  const Rope usual = *read_with({{"rope", "{}"}}).rope;
  CHECK(usual.base == 10000);
  CHECK(usual.pairing == Pairing::half);
  CHECK(usual.dims == 2);
  CHECK(usual.start == 0);
  CHECK_FALSE(usual.positions);
  const Rope own = *read_with({{"rope", R"({"base": 5e5, "pairing": "interleaved", "dims": 2.0, "start": -3,
                                            "positions": [0, 7], "positions_kv": [-1, 1e3]})"}})
                        .rope;
  CHECK(own.base == 5e5);
  CHECK(own.pairing == Pairing::interleaved);
  CHECK(own.dims == 2);
  CHECK(own.start == -3);
  CHECK(*own.positions == std::vector<Index>{0, 7});
  CHECK(*own.positions_kv == std::vector<Index>{-1, 1000});
}

TEST_CASE("the order of keys does not matter") {
  const Problem problem = read_problem_text(
      R"({"W_O": "identity", "mask": "causal", "heads": [{"W_V": [[1]], "W_K": [[2]], "W_Q": [[3]]}], "tokens": ["a"], "X": [[4]]})",
      "in");
  CHECK(problem.Q.W.data()[0] == 3);
  CHECK(problem.masks.size() == 1);
}

TEST_CASE("a file descriptor gives the same as a file") {
  const std::string path = MHA_TESTS_DIR "/cases/mask_add/problem.json";
  const int fd = ::open(path.c_str(), O_RDONLY);
  const Problem problem = read_problem_fd(fd, "-");
  ::close(fd);
  CHECK(numbers(problem.masks.at(0).matrix) == numbers(read_problem_file(path).masks.at(0).matrix));
}

TEST_CASE("every known key is read where it is listed") {
  const auto keys_in = [](std::string_view object) {
    for (const KeySet& set : problem_keys())
      if (set.object.en == object) return std::vector<std::string_view>(set.keys.begin(), set.keys.end());
    return std::vector<std::string_view>{};
  };
  CHECK(keys_in("the problem itself").size() == 33);
  CHECK(keys_in("an entry of kv_heads") == std::vector<std::string_view>{"W_K", "W_V", "b_K", "b_V"});
  for (const std::string_view key : keys_in("rope"))
    CHECK(fault_with({{"rope", "{\"" + std::string(key) + "\": null}"}}).find("unknown key") == std::string::npos);
  for (const std::string_view key : keys_in("the problem itself"))
    CHECK(fault_of("{\"" + std::string(key) + "\": null}").find("unknown key") == std::string::npos);
}
