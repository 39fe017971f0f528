// Masks of every kind, as the person wrote them, and what is said of those that do not fit.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "io/problem/problem_text.hpp"

using namespace mha;
using namespace mha::test;

namespace {

constexpr auto batch_of_two = "[[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]]";
constexpr auto three_keys = "[[1, 2], [3, 4], [5, 6]]";

Mask read_mask(const std::string& mask, const Keys& other = {}) {
  Keys own = other;
  own.emplace_back("mask", mask);
  const Problem problem = read_with(own);
  REQUIRE(problem.masks.size() == 1);
  CHECK_FALSE(problem.mask_is_list);
  return problem.masks.front();
}

std::string fault_of_mask(const std::string& mask, const Keys& other = {}) {
  Keys own = {{"mask", mask}};
  own.insert(own.end(), other.begin(), other.end());
  return fault_with(own);
}

}  // namespace

TEST_CASE("masks that a word names") {
  CHECK(read_mask("\"none\"").kind == Mask::Kind::none);
  CHECK(read_mask("\"causal\"").kind == Mask::Kind::causal);
  CHECK_FALSE(read_mask("\"causal\"").align);
  CHECK(read_mask("\"causal\"").short_form);
  CHECK(read_mask("\"alibi\"").kind == Mask::Kind::alibi);
  const Keys cross = {{"X_kv", three_keys}};
  const Mask top_left = read_mask("\"causal-top-left\"", cross);
  CHECK(top_left.kind == Mask::Kind::causal);
  CHECK(top_left.align->kind == Align::Kind::top_left);
  CHECK(top_left.short_form);
  CHECK(read_mask("\"causal-bottom-right\"", cross).align->kind == Align::Kind::bottom_right);
  CHECK(read_mask("\"none\"", cross).kind == Mask::Kind::none);
}

TEST_CASE("where query i stands among the keys") {
  const Keys cross = {{"X_kv", three_keys}};
  const auto align = [&](const std::string& text) {
    return *read_mask("{\"causal\": {\"align\": " + text + "}}", cross).align;
  };
  CHECK(align("\"top-left\"").kind == Align::Kind::top_left);
  CHECK(align("\"bottom-right\"").kind == Align::Kind::bottom_right);
  CHECK(align("-1").kind == Align::Kind::offset);
  CHECK(align("-1").offsets == std::vector<Index>{-1});
  CHECK(align("[2]").kind == Align::Kind::per_item);
  CHECK_FALSE(read_mask("{\"causal\": {}}").short_form);
  CHECK(read_mask("{\"causal\": {\"align\": [0, 2]}}", {{"X", batch_of_two}}).align->offsets == std::vector<Index>{0, 2});
}

TEST_CASE("windows") {
  const Mask mask = read_mask("{\"window\": {\"left\": 2, \"right\": null}}");
  CHECK(mask.kind == Mask::Kind::window);
  CHECK(mask.left == 2);
  CHECK_FALSE(mask.right);
  CHECK_FALSE(mask.short_form);
  CHECK(read_mask("{\"window\": {\"right\": 0}}").right == 0);
  CHECK(
      read_mask("{\"window\": {\"left\": 0, \"right\": 1, \"align\": 1}}", {{"X_kv", three_keys}}).align->offsets.front() ==
      1);
}

TEST_CASE("slopes") {
  const Mask mask = read_mask("{\"alibi\": {\"slopes\": [0.5], \"align\": \"bottom-right\"}}", {{"X_kv", three_keys}});
  CHECK(*mask.slopes == std::vector<double>{0.5});
  CHECK(mask.align->kind == Align::Kind::bottom_right);
  CHECK_FALSE(read_mask("{\"alibi\": {}}").slopes);
}

TEST_CASE("padding, for all items or for each") {
  const Mask for_all = read_mask("{\"padding\": [1, false]}");
  CHECK(for_all.matrix.shape() == Shape{1, 1, 1, 2});
  CHECK(for_all.matrix.data()[0] == 1);
  CHECK(for_all.matrix.data()[1] == 0);
  CHECK(for_all.matrix_axes == 1);
  const Mask per_item = read_mask("{\"padding\": [[1, 1, 0], [1, 1, 1]]}", {{"X", batch_of_two}});
  CHECK(per_item.matrix.shape() == Shape{2, 1, 1, 3});
  CHECK(per_item.matrix_axes == 2);
  CHECK(read_mask("{\"padding\": [1, 1, 0]}", {{"X", batch_of_two}}).matrix.shape() == Shape{1, 1, 1, 3});
}

TEST_CASE("matrices for all, for each item, for each item and head") {
  const Mask allow = read_mask("{\"allow\": [[true, false], [1, 0]]}");
  CHECK(allow.kind == Mask::Kind::allow);
  CHECK(allow.matrix.shape() == Shape{1, 1, 2, 2});
  CHECK(allow.matrix_axes == 2);
  CHECK(allow.matrix.at(0, 0, 0, 0) == 1);
  CHECK(allow.matrix.at(0, 0, 0, 1) == 0);
  CHECK(read_mask("{\"block\": [[[0, 0], [1, 0]]]}").matrix_axes == 3);
  const Keys batch = {{"X", "[[[1, 2]], [[3, 4]]]"}};
  const Mask per_item = read_mask("{\"block\": [[[1]], [[0]]]}", batch);
  CHECK(per_item.kind == Mask::Kind::block);
  CHECK(per_item.matrix.shape() == Shape{2, 1, 1, 1});
  const Mask four = read_mask("{\"add\": [[[[1, 2]]]]}");
  CHECK(four.matrix.shape() == Shape{1, 1, 1, 2});
  CHECK(four.matrix_axes == 4);
}

TEST_CASE("add masks hold numbers, −∞ and what Python writes") {
  const Mask mask = read_mask("{\"add\": [[\"-inf\", -Infinity], [NaN, Infinity]]}");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(mask.kind == Mask::Kind::add);
  CHECK(mask.matrix.at(0, 0, 0, 0) == -infinity);
  CHECK(mask.matrix.at(0, 0, 0, 1) == -infinity);
  CHECK(std::isnan(mask.matrix.at(0, 0, 1, 0)));
  CHECK(mask.matrix.at(0, 0, 1, 1) == infinity);
}

TEST_CASE("a list of masks keeps its order") {
  const Problem problem = read_with({{"mask", "[\"causal\", {\"padding\": [1, 0]}, \"none\"]"}});
  CHECK(problem.mask_is_list);
  REQUIRE(problem.masks.size() == 3);
  CHECK(problem.masks[0].kind == Mask::Kind::causal);
  CHECK(problem.masks[1].kind == Mask::Kind::padding);
  CHECK(problem.masks[2].kind == Mask::Kind::none);
  const Problem empty = read_with({{"mask", "[]"}});
  CHECK(empty.mask_is_list);
  CHECK(empty.masks.empty());
}

TEST_CASE("masks that are none") {
  const std::string bare =
      ", which does not say what its entries do; write {\"allow\": …} (1 may be seen), {\"block\": …} (1 is "
      "hidden) or {\"add\": …} (added to the scores)";
  CHECK(fault_of_mask("[[1, 0], [0, 1]]") == "in:1:10: mask: found a 2×2 matrix" + bare);
  CHECK(fault_of_mask("[\"causal\", [[1, 0], [0, 1]]]") == "in:1:21: mask[1]: found a 2×2 matrix" + bare);
  CHECK(fault_of_mask("[[\"causal\"]]") == "in:1:11: mask[0]: found a list" + bare);
  CHECK(fault_of_mask("\"casual\"") == "in:1:10: mask: unknown mask \"casual\". Did you mean \"causal\"?");
  CHECK(fault_of_mask("\"triangle\"") ==
        "in:1:10: mask: unknown mask \"triangle\". Known: none, causal, causal-top-left, "
        "causal-bottom-right, alibi.");
  CHECK(fault_of_mask("\"window\"") == "in:1:10: mask: the mask \"window\" needs more than its name: {\"window\": …}");
  CHECK(fault_of_mask("null") == "in:1:10: mask: found null, expected a mask: \"none\", \"causal\", {\"allow\": …}, …");
  CHECK(fault_of_mask("{}") ==
        "in:1:10: mask: the object names no mask; write \"none\", or one of causal, window, padding, "
        "allow, block, add, alibi");
  CHECK(fault_of_mask("{\"padding\": [1, 1], \"causal\": {}}") ==
        "in:1:10: mask: one object holds two masks; write a list of them, all are applied: [{…}, {…}]");
  CHECK(fault_of_mask("{\"allows\": [[1]]}") ==
        "in:1:11: mask: unknown key \"allows\". Did you mean \"allow\"? A key of your own starts with _.");
  CHECK(fault_of_mask("{\"causal\": true}") ==
        "in:1:21: mask.causal: found true, expected {\"align\": …}; for the plain mask write \"causal\"");
  CHECK(fault_of_mask("{\"file\": \"mask.npy\"}") ==
        "in:1:19: mask.file: a problem without a folder of its own points to no files; save it as a file and write paths "
        "from there");
}

TEST_CASE("masks that must be told where the queries stand") {
  const Keys cross = {{"X_kv", three_keys}};
  const std::string counts = "2 query rows and 3 keys: say where query i stands among the keys, ";
  const std::string causal = counts +
                             "\"causal-top-left\" (at key i), \"causal-bottom-right\" (the last query at the last key) "
                             "or {\"causal\": {\"align\": 2}} (at key i + 2)";
  const std::string other = counts +
                            "\"align\": \"top-left\" (at key i), \"bottom-right\" (the last query at the last key) or a "
                            "number (2: at key i + 2)";
  CHECK(fault_of_mask("\"causal\"", cross) == "in:1:10: mask: " + causal);
  CHECK(fault_of_mask("{\"causal\": {}}", cross) == "in:1:21: mask.causal: " + causal);
  CHECK(fault_of_mask("\"alibi\"", cross) == "in:1:10: mask: " + other);
  CHECK(fault_of_mask("{\"window\": {\"left\": 1}}", cross) == "in:1:21: mask.window: " + other);
}

TEST_CASE("masks with wrong numbers") {
  CHECK(fault_of_mask("{\"allow\": [[1, 0], [0.5, 1]]}") == "in:1:20: mask.allow[1][0]: found 0.5, expected 0 or 1");
  CHECK(fault_of_mask("{\"padding\": [1, 2]}") == "in:1:22: mask.padding[1]: found 2, expected 0 or 1");
  CHECK(fault_of_mask("{\"block\": [[1, \"-inf\"], [0, 0]]}") ==
        "in:1:25: mask.block[0][1]: \"-inf\" stands where a number belongs; this mask holds 0 and 1, or false and true");
  CHECK(
      fault_of_mask("{\"add\": [[1, \"inf\"], [0, 0]]}") ==
      "in:1:23: mask.add[0][1]: the text \"inf\" stands where a number belongs; numbers are written without quotes, −∞ as "
      "\"-inf\"");
  CHECK(
      fault_of_mask("{\"add\": [[1, true], [0, 0]]}") ==
      "in:1:23: mask.add[0][1]: true stands where a number belongs; booleans belong in the masks allow, block and padding; "
      "write 1 or 0");
  CHECK(fault_of_mask("{\"add\": [[1, null], [0, 0]]}") ==
        "in:1:23: mask.add[0][1]: null stands where a number belongs; null is usually NaN or −inf from a JSON writer; "
        "write the "
        "number, or in an add mask \"-inf\"");
  CHECK(fault_of_mask("{\"window\": {\"left\": -1}}") ==
        "in:1:30: mask.window.left: found -1, expected how many keys may be seen on this side: 0 or more, or null");
  CHECK(fault_of_mask("{\"window\": {\"left\": 0.5}}") ==
        "in:1:30: mask.window.left: found the number 0.5, expected an integer of at most 2^53");
  CHECK(fault_of_mask("{\"window\": {}}") ==
        "in:1:21: mask.window: \"left\" and \"right\" are missing; write how many keys may "
        "be seen on each side, null for no limit");
  CHECK(fault_of_mask("{\"causal\": {\"align\": \"topleft\"}}") ==
        "in:1:31: mask.causal.align: unknown align \"topleft\". Did you mean \"top-left\"? Known: \"top-left\", "
        "\"bottom-right\", an integer, or one for each item");
  CHECK(fault_of_mask("{\"causal\": {\"align\": [1, 2]}}") ==
        "in:1:31: mask.causal.align: found 2 numbers, expected 1, one for each item of the batch");
  CHECK(fault_of_mask("{\"alibi\": {\"slopes\": [1, 2]}}") ==
        "in:1:31: mask.alibi.slopes: found 2 numbers, expected 1, one for each head");
  CHECK(fault_of_mask("{\"alibi\": {\"slopes\": 1}}") ==
        "in:1:31: mask.alibi.slopes: found the number 1, expected a list of numbers: [1, 0]");
}

TEST_CASE("masks of the wrong shape are never stretched to fit") {
  const std::string expected =
      ", expected 2×2 (queries×keys), 1×2×2 (one for each item) or 1×1×2×2 (one for each item and head; 1 "
      "serves for all items, heads or queries)";
  const auto fault_of_allow = [](const std::string& matrix) { return fault_of_mask("{\"allow\": " + matrix + "}"); };
  CHECK(fault_of_allow("[[1, 0]]") == "in:1:20: mask.allow: the shape is 1×2" + expected);
  CHECK(fault_of_allow("[[1], [0]]") == "in:1:20: mask.allow: the shape is 2×1" + expected);
  CHECK(fault_of_allow("[1, 0]") == "in:1:20: mask.allow: the shape is 2" + expected);
  CHECK(fault_of_allow("[[[1, 0]]]") == "in:1:20: mask.allow: the shape is 1×1×2" + expected);
  CHECK(fault_of_allow("[[[[[1, 0]]]]]") == "in:1:20: mask.allow: the shape is 1×1×1×1×2" + expected);
  CHECK(fault_of_allow("[[[[1], [0]]]]") == "in:1:20: mask.allow: the shape is 1×1×2×1" + expected);
  CHECK(fault_of_allow("[[[1, 0], [1, 0]], [[1, 0], [1, 0]]]") == "in:1:20: mask.allow: the shape is 2×2×2" + expected);
  const std::string per_head =
      fault_of_mask("{\"allow\": [[[1]], [[1]]]}", {{"X", "[[1, 2]]"},
                                                    {"heads", R"([{"W_Q": [[1], [2]]}, {"W_Q": [[1], [2]]}])"},
                                                    {"kv_heads", R"([{"W_K": [[1], [2]], "W_V": [[1], [2]]}])"}});
  CHECK(per_head.ends_with("; one for each head is 1×2×1×1: put it into one more list"));
  CHECK(fault_of_mask("{\"padding\": [1]}") ==
        "in:1:22: mask.padding: found a list of 1 number, expected 2 numbers, one for each key; 1 marks a real token");
  CHECK(fault_of_mask("{\"padding\": [[1, 1]]}") ==
        "in:1:22: mask.padding: found a 1×2 matrix, expected 2 numbers, one for each key; 1 marks a real token");
  CHECK(fault_of_mask("{\"padding\": [[1, 1, 1]]}", {{"X", batch_of_two}}) ==
        "in:1:22: mask.padding: found a 1×3 matrix, expected 3 numbers, one for each key, or 2×3 of them, one row for each "
        "item; "
        "1 marks a real token");
}
