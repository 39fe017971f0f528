// Display width, and what of a person's words may reach a terminal.
#include "show/text/width.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

TEST_CASE("Chinese and emoji take two columns, combining marks none") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("苹果") == 4);
  CHECK(display_width("🍎") == 2);
  CHECK(display_width("👍🏽") == 2);
  CHECK(display_width("K̃") == 1);
  CHECK(display_width("⎡√−∞⁽¹⁾") == 7);
}

TEST_CASE("what acts on a terminal or hides in a text is spelled out") {
  CHECK(visible("a\nb\tc\r") == "a\\nb\\tc\\r");
  CHECK(visible("\x1b[2J") == "\\x1b[2J");
  CHECK(visible("\u202eabc\u2066") == "\\u202eabc\\u2066");
  CHECK(visible("a\u200bb\u2028\ufeff") == "a\\u200bb\\u2028\\ufeff");
  CHECK(visible("\u0085\x7f") == "\\x85\\x7f");
  CHECK(visible("\U000e0041") == "\\U000e0041");
  CHECK(visible("书包 é K̃ 🍎") == "书包 é K̃ 🍎");
  CHECK(visible("a\xff") == "a\uFFFD");
}

TEST_CASE("long texts are shortened by display width") {
  CHECK(shortened("apple", 5, "…") == "apple");
  CHECK(shortened("apples", 5, "…") == "appl…");
  CHECK(shortened("非常非常长", 6, "…") == "非常…");
  CHECK(shortened("K̃K̃K̃", 2, "…") == "K̃…");
}

TEST_CASE("padding goes by display width") {
  CHECK(pad_right("书包", 6) == "书包  ");
  CHECK(pad_left("书包", 6) == "  书包");
  CHECK(centred("书包", 7) == " 书包  ");
  CHECK(pad_left("too long", 3) == "too long");
}

}  // namespace
}  // namespace mha::test
