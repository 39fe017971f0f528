// Warnings name the queries that may attend to no key, in few sentences however many they are.
#include "catch.hpp"
#include "show/pages/small_problem.hpp"

namespace mha::test {
namespace {

using Sentences = std::vector<std::string>;

Problem blocked(Tensor block) {
  Problem problem = small_problem();
  problem.masks[0].kind = Mask::Kind::block;
  problem.masks[0].matrix = std::move(block);
  return problem;
}

Sentences warnings_of(const Problem& problem, const PageOptions& options = {}) {
  const Plan plan = make_plan(problem);
  Trace nothing_computed;
  nothing_computed.values.resize(plan.values.size());
  return warnings(problem, plan, nothing_computed, options);
}

TEST_CASE("no warning where every query has a key") {
  CHECK(warnings_of(small_problem()).empty());
}

TEST_CASE("one sentence for all heads, by name and in either base and language") {
  const Problem problem = blocked(tensor({1, 1, 2, 2}, {0, 1, 1, 1}));
  PageOptions options;
  CHECK(warnings_of(problem, options) == Sentences{"query 2 (reads) may attend to no key: weights 0, head output 0"});
  options.index_base = 0;
  options.language = Language::zh;
  CHECK(warnings_of(problem, options) == Sentences{"查询 1（reads）没有可看的键：权重为 0，头的输出为 0"});
}

TEST_CASE("a head of its own is named") {
  CHECK(warnings_of(blocked(tensor({1, 2, 2, 2}, {1, 1, 0, 0, 0, 0, 0, 0}))) ==
        Sentences{"query 1 (he) may attend to no key in head 1: weights 0, head output 0"});
}

TEST_CASE("a label cannot act on the terminal") {
  Problem problem = blocked(tensor({1, 1, 2, 2}, {1, 1, 0, 0}));
  problem.tokens = {{"\x1b[2J", "b"}};
  CHECK(warnings_of(problem) == Sentences{"query 1 (\\x1b[2J) may attend to no key: weights 0, head output 0"});
}

TEST_CASE("many queries are told by ranges") {
  Problem problem = small_problem();
  problem.tokens.clear();
  problem.X = filled({1, 1, 40, 2}, 1);
  problem.masks[0].kind = Mask::Kind::block;
  Tensor block = filled({1, 1, 40, 40}, 1);
  for (const Index row : {3, 20})
    for (Index column = 0; column < 40; ++column) block.at(0, 0, row, column) = 0;
  problem.masks[0].matrix = block;
  CHECK(warnings_of(problem) == Sentences{"queries 1–3, 5–20, 22–40 may attend to no key: weights 0, head output 0"});

  for (Index row = 0; row < 40; row += 2)
    for (Index column = 0; column < 40; ++column) block.at(0, 0, row, column) = 0;
  problem.masks[0].matrix = block;
  CHECK(warnings_of(problem) ==
        Sentences{"queries 2, 6, 8, 10, 12, 14, … (19 in all) may attend to no key: weights 0, head output 0"});
}

TEST_CASE("items of a batch are named, and a few stand for many") {
  Problem problem = blocked(filled({1, 1, 2, 2}, 1));
  problem.batched = true;
  problem.X = filled({7, 1, 2, 2}, 1);
  problem.tokens.clear();
  const Sentences all = warnings_of(problem);
  REQUIRE(all.size() == 6);
  CHECK(all[0] == "item 1: query 1, query 2 may attend to no key: weights 0, head output 0");
  CHECK(all[5] == "2 more items have queries that may attend to no key");

  PageOptions options;
  options.chosen_item = {3, 7};
  CHECK(warnings_of(select_item(problem, 3), options).front().rfind("item 4: ", 0) == 0);
}

}  // namespace
}  // namespace mha::test
