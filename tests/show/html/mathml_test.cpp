// Formulas as MathML.
#include "show/html/mathml.hpp"

#include "catch.hpp"

using namespace mha::show;

namespace {

// Without what all have around them.
std::string inner(std::string_view formula) {
  const std::string text = mathml(formula);
  const std::string_view before = "<math><mrow>", behind = "</mrow></math>";
  REQUIRE(text.starts_with(before));
  REQUIRE(text.ends_with(behind));
  return text.substr(before.size(), text.size() - before.size() - behind.size());
}

std::string sign(std::string_view text) {
  return "<mo stretchy=\"false\">" + std::string(text) + "</mo>";
}

}  // namespace

TEST_CASE("letters carry their head above and their index below", "[mathml]") {
  CHECK(inner("Q⁽¹⁾") == "<msup><mi>Q</mi><mrow><mn>(1)</mn></mrow></msup>");
  CHECK(inner("W_Q⁽¹²⁾") == "<msubsup><mi>W</mi><mrow><mi>Q</mi></mrow><mrow><mn>(12)</mn></mrow></msubsup>");
  CHECK(inner("K⁽ᵏᵛ¹⁾ᵀ") == "<msup><mi>K</mi><mrow><mn>(kv1)</mn><mi>T</mi></mrow></msup>");
  CHECK(inner("X₁") == "<msub><mi>X</mi><mrow><mn>1</mn></mrow></msub>");
  CHECK(inner("N′") == "<msup><mi>N</mi><mrow>" + sign("′") + "</mrow></msup>");
  CHECK(inner("Q̃") == "<mover accent=\"true\"><mi>Q</mi><mo>~</mo></mover>");
}

TEST_CASE("signs, roots, powers and words", "[mathml]") {
  CHECK(inner("X · Y") == "<mi>X</mi>" + sign("·") + "<mi>Y</mi>");
  CHECK(inner("S / √d_k") == "<mi>S</mi>" + sign("/") + "<msqrt><msub><mi>d</mi><mrow><mi>k</mi></mrow></msub></msqrt>");
  CHECK(inner("2^Z") == "<msup><mn>2</mn><mrow><mi>Z</mi></mrow></msup>");
  CHECK(inner("softmax(Z), each row") ==
        "<mi>softmax</mi>" + sign("(") + "<mi>Z</mi>" + sign(")") + "<mtext>, each row</mtext>");
  CHECK(inner("Z，逐行") == "<mi>Z</mi><mtext>，逐行</mtext>");
}

TEST_CASE("whatever the text, it ends and stays text", "[mathml]") {
  for (const char* text : {"", "^", "_", "√", "Q_", "2^", "⁽", "ᵀ", "^^^", "√√", "\xff\xfe", ", ", "N*", "*"}) mathml(text);
  CHECK(inner("<b>&") == sign("&lt;") + "<mi>b</mi>" + sign("&gt;") + sign("&amp;"));
}
