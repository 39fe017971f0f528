// Display width: Chinese, emoji and combining marks line up.
#include "show/text/wrap.hpp"

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
