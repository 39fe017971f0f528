// The blocks of a page as text: headings, notes, entries that are spelled out, tables, and the cut at steps.
#include "show/writers.hpp"

#include "catch.hpp"
#include "show/text/matrices.hpp"

namespace mha::test {
namespace {

std::string plain_text(std::vector<Block> blocks, TextStyle style = {}) {
  return write_text({Language::en, 1, std::move(blocks)}, style);
}

TEST_CASE("a step's heading has its shapes at the right edge, or below where they do not fit") {
  const StepHeading heading{1, "Queries", "Q = X · W_Q", "3×4 · 4×2 → 3×2"};
  CHECK(plain_text({heading}, {50, false, false}) == "1  Queries   Q = X · W_Q           3×4 · 4×2 → 3×2\n");
  CHECK(plain_text({heading}, {30, false, false}) == "1  Queries   Q = X · W_Q\n   3×4 · 4×2 → 3×2\n");
  CHECK(plain_text({heading}, {16, false, false}) == "1  Queries\n   Q = X · W_Q\n   3×4 · 4×2\n   → 3×2\n");
}

TEST_CASE("sections are ruled to the width of prose, however wide the page") {
  CHECK(plain_text({Section{Section::Level::head, {Words("Head 1 of 2"), Words().quote("who")}}}, {30, false, false}) ==
        "── Head 1 of 2 · who ─────────\n");
  CHECK(plain_text({Section{Section::Level::item, {Words("Item 1")}}}, {20, false, true}) == "== Item 1 ==========\n");
  CHECK(plain_text({Section{Section::Level::head, {Words("x")}}}, {500, false, false}) ==
        plain_text({Section{Section::Level::head, {Words("x")}}}, {80, false, false}));
}

TEST_CASE("facts break between facts") {
  CHECK(plain_text({Facts{{Words("3 tokens"), Words("no mask"), Words("cpu f64")}}}, {20, false, false}) ==
        "3 tokens · no mask\ncpu f64\n");
}

TEST_CASE("an entry stands on one line where it fits, else with its relations below one another") {
  const Work work{"A[1,1]", {{"=", "1·2 + 3·4 + 5·6", {}}, {"=", "44", "a remark"}}};
  CHECK(plain_text({work}) == "   A[1,1] = 1·2 + 3·4 + 5·6 = 44   a remark\n");
  CHECK(plain_text({work}, {30, false, false}) ==
        "   A[1,1] = 1·2 + 3·4 + 5·6\n"
        "          = 44   a remark\n");
  CHECK(plain_text({work}, {24, false, false}) ==
        "   A[1,1] = 1·2 + 3·4\n"
        "            + 5·6\n"
        "          = 44\n"
        "            a remark\n");
}

TEST_CASE("remarks in the middle stand below one another") {
  const Work work{"Y[1,1]", {{"=", "1·2", "head 1: 2"}, {"+", "3·4 + 5", "head 2: 17"}, {"=", "19", {}}}};
  CHECK(plain_text({work}) ==
        "   Y[1,1] = 1·2       head 1: 2\n"
        "          + 3·4 + 5   head 2: 17\n"
        "          = 19\n");
}

TEST_CASE("a table breaks its last column only") {
  const Table table{{"name", "title"}, {{Words("a"), Words("one two three")}, {Words("longer"), Words("x")}}};
  CHECK(plain_text({table}, {18, false, false}) ==
        "name    title\n"
        "a       one two\n"
        "        three\n"
        "longer  x\n");
}

TEST_CASE("a person's words cannot act on the terminal, nor break a line") {
  const std::string text = plain_text({Title{{Words("t").quote("\x1b[2J\n\u202e")}}});
  CHECK(text == "t\\x1b[2J\\n\\u202e\n");
}

TEST_CASE("blank lines stand before what is new, and no line ends in spaces") {
  CHECK(plain_text({Title{{Words("t")}}, Facts{{Words("f")}}, Note{Note::Kind::paragraph, "p"},
                    StepHeading{1, "s", "f", ""}, Note{Note::Kind::caption, "c"}, Note{Note::Kind::warning, "w"}}) ==
        "t\nf\n\np\n\n1  s   f\n   c\n   ! w\n");
}

TEST_CASE("a page is cut where a step or its section begins") {
  const Section section{Section::Level::head, {Words("Head 1")}};
  const StepHeading step{1, "s", "f", ""};
  const std::vector<Document> pieces =
      split_at_steps({Language::zh, 0, {Title{{Words("t")}}, step, section, step, Note{}, step, section, section, step}});
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[0].blocks.size() == 2);
  CHECK(pieces[1].blocks.size() == 3);
  CHECK(pieces[2].blocks.size() == 1);
  CHECK(pieces[3].blocks.size() == 3);
  CHECK(pieces[3].language == Language::zh);
  CHECK(pieces[3].index_base == 0);
}

TEST_CASE("numbers in a table stand flush right, the last column too, and apart from what follows") {
  const Table table{{"term", "value", "sum"}, {{"a", "1", "10"}, {"bb", "-2.5", "7.5"}}, {false, true, true}, true};
  CHECK(plain_text({table, Note{Note::Kind::caption, "then"}}) ==
        "   term  value  sum\n"
        "   a         1   10\n"
        "   bb     -2.5  7.5\n"
        "\n"
        "   then\n");
}

}  // namespace
}  // namespace mha::test
