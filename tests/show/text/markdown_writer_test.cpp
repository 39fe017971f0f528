// Pages as Markdown: each kind of block, and every sign of a person's words as itself.
#include "show/writers.hpp"

#include "catch.hpp"
#include "show/text/matrices.hpp"

namespace mha::test {
namespace {

std::string markdown(std::vector<Block> blocks, int width = 80) {
  return write_markdown({Language::en, 1, std::move(blocks)}, {width, false, false});
}

std::string paragraph(const std::string& text) {
  return markdown({Note{Note::Kind::paragraph, Words().quote(text)}});
}

}  // namespace

TEST_CASE("headings, formulas and captions", "[markdown]") {
  CHECK(markdown({Title{{Words("Page"), Words().quote("Mine")}}, Facts{{Words("3 tokens"), Words("d_model 4")}},
                  Section{Section::Level::head, {Words("Head 1 of 2")}},
                  StepHeading{1, "Queries", "Q⁽¹⁾ = X · W_Q⁽¹⁾", "3×4 · 4×2 → 3×2"}, Note{Note::Kind::caption, "why"},
                  Note{Note::Kind::warning, "beware"}}) ==
        "# Page · Mine\n\n3 tokens · d_model 4\n\n## Head 1 of 2\n\n### 1 Queries\n\n`Q⁽¹⁾ = X · W_Q⁽¹⁾` · 3×4 · 4×2 → "
        "3×2\n\n"
        "why\n\n**beware**\n");
}

TEST_CASE("heads stand below the items of a batch", "[markdown]") {
  CHECK(markdown({Section{Section::Level::item, {Words("Item 1")}}, Section{Section::Level::head, {Words("Head 1")}},
                  StepHeading{std::nullopt, "Input", "X", ""}}) == "## Item 1\n\n### Head 1\n\n#### Input\n\n`X`\n");
}

TEST_CASE("matrices and entries are set as on a terminal", "[markdown]") {
  CHECK(markdown({Equation{{matrix("X", {{"1", "0"}, {"0", "2"}})}}, Work{"Q[1,1]", {{"=", "1·2", {}}, {"=", "2", {}}}}}) ==
        "```text\n   X\n⎡ 1  0 ⎤\n⎣ 0  2 ⎦\n```\n\n```text\nQ[1,1] = 1·2 = 2\n```\n");
  const std::string narrow = markdown({Equation{{matrix("A", {{"1234"}}), "=", matrix("B", {{"1234"}})}}}, 12);
  CHECK(narrow.find("[ 1234 ]  =") == std::string::npos);
}

TEST_CASE("tables", "[markdown]") {
  Table table{{"name", "n"}, {{Words().quote("a|b"), Words("1")}}};
  table.numeric = {false, true};
  CHECK(markdown({table}) == "| name | n |\n| --- | ---: |\n| a\\|b | 1 |\n");
  CHECK(markdown({Table{{}, {{Words("x"), Words("y")}}}}) == "|  |  |\n| --- | --- |\n| x | y |\n");
}

TEST_CASE("signs that mean something to Markdown stand for themselves", "[markdown]") {
  CHECK(paragraph("*a* `b` [c](d) <e> &amp; $f$ ~g~ \\h") ==
        "\\*a\\* \\`b\\` \\[c](d) \\<e> \\&amp; \\$f\\$ \\~g\\~ \\\\h\n");
  CHECK(paragraph("d_model, _b_ and c_") == "d_model, \\_b\\_ and c\\_\n");
  CHECK(paragraph("# no heading") == "\\# no heading\n");
  CHECK(paragraph("1. no list") == "1\\. no list\n");
  CHECK(paragraph("12) no list") == "12\\) no list\n");
  CHECK(paragraph("- no list") == "\\- no list\n");
  CHECK(paragraph("> no quotation") == "\\> no quotation\n");
  CHECK(paragraph("    no code") == "no code\n");
  CHECK(paragraph("a - b > c 1. d") == "a - b > c 1. d\n");
}

TEST_CASE("a person's words cannot break a line or end a block of code", "[markdown]") {
  CHECK(paragraph("a\n# b") == "a\\\\n\\# b\n");
  Matrix labelled = matrix("X", {{"1"}});
  labelled.row_labels = {"```"};
  const std::string text = markdown({Equation{{labelled}}});
  CHECK(text.rfind("````text\n", 0) == 0);
  CHECK(text.find("\n````\n") != std::string::npos);
  CHECK(markdown({StepHeading{std::nullopt, "t", "a`b", ""}}).find("`` a`b ``") != std::string::npos);
}

}  // namespace mha::test
