// What is written of a problem reads back as that problem.
#include "io/problem/problem_writer.hpp"

#include <string>

#include "catch.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::test {
namespace {

std::string written(const Problem& problem) {
  StringSink sink;
  write_problem(sink, problem);
  return sink.text();
}

}  // namespace

TEST_CASE("a problem that was written and read is written again to the same bytes") {
  for (const EmbeddedFile& example : examples()) {
    CAPTURE(example.name);
    const std::string text = written(read_problem_text(example.text, example.name));
    CHECK(written(read_problem_text(text, "written")) == text);
  }
}

TEST_CASE("every key of a problem is written") {
  const std::string text = R"({
 "title": {"en": "t", "zh": "题"},
 "description": "d",
 "tokens": [["a", "b"]],
 "tokens_kv": ["c"],
 "X": [
  [
   [1, 2],
   [3, 4]
  ]
 ],
 "X_kv": [
  [
   [5, 6]
  ]
 ],
 "layout": "torch",
 "num_heads": 2,
 "num_kv_heads": 1,
 "W_Q": [
  [1, 0],
  [0, 1],
  [1, 1],
  [2, 0]
 ],
 "b_Q": [1, 2, 3, 4],
 "W_K": [
  [1, 0],
  [0, 1]
 ],
 "W_V": [
  [0, 1]
 ],
 "W_O": "identity",
 "mask": [
  {"window": {"left": 1, "right": null, "align": [1]}},
  {
   "add": [
    [0],
    ["-inf"]
   ]
  },
  {"alibi": {"slopes": [0.5, 0.25], "align": 2}}
 ],
 "scale": -0.5,
 "softcap": 3,
 "rope": {"base": 100, "pairing": "interleaved", "dims": 2, "start": 3, "positions": [4, 5], "positions_kv": [6]}
}
)";
  const std::string once = written(read_problem_text(text, "p"));
  CHECK(once == written(read_problem_text(once, "p")));
  const std::string label_list = R"("tokens": [["a", "b"]])", label = R"("tokens": ["a", "b"])";
  CHECK(once == std::string(text).replace(text.find(label_list), label_list.size(), label));
}

}  // namespace mha::test
