// UTF-8, and what of a person's words may reach a terminal.
#include "core/utf8.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

TEST_CASE("what acts on a terminal or hides in a text is spelled out") {
  CHECK(visible("a\nb\tc\r") == "a\\nb\\tc\\r");
  CHECK(visible("\x1b[2J") == "\\x1b[2J");
  CHECK(visible("\u202eabc\u2066") == "\\u202eabc\\u2066");
  CHECK(visible("a\u200bb\u2028\ufeff") == "a\\u200bb\\u2028\\ufeff");
  CHECK(visible("\u0085\x7f") == "\\x85\\x7f");
  CHECK(visible("\U000e0041\u2062") == "\\U000e0041\\u2062");
  CHECK(visible("\u034f\u3164") == "\\u034f\\u3164");
  CHECK(visible("书包 é K̃ 🍎 ❤️") == "书包 é K̃ 🍎 ❤️");
  CHECK(visible("a\xff") == "a\uFFFD");
}

TEST_CASE("pieces of the input are harmless in messages") {
  CHECK(quote("W_Q é 日本 🙂") == "\"W_Q é 日本 🙂\"");
  CHECK(quote("\x1B[2J\n\x7F") == "\"\\u001b[2J\\u000a\\u007f\"");
  CHECK(quote("a\u202Eb\u2028\u009B") == "\"a\\u202eb\\u2028\\u009b\"");
  CHECK(quote("W\u2062\U000E0041\u00A0") == "\"W\\u2062\\U000e0041\\u00a0\"");
  CHECK(quote("\xFF\xC3") == "\"\\xff\\xc3\"");
  CHECK(quote("\xE0\x80\x80\xED\xA0\x80") == "\"\\xe0\\x80\\x80\\xed\\xa0\\x80\"");
  CHECK(quote(std::string(100, 'a')) == "\"" + std::string(40, 'a') + "…\"");
}

TEST_CASE("bytes that are no UTF-8") {
  CHECK(is_utf8("W_Q é 日本 🙂"));
  for (const char* text : {"a\xFF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) CHECK_FALSE(is_utf8(text));
}

}  // namespace
}  // namespace mha::test
