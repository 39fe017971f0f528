// Matrices side by side, one below the other, in blocks of columns, and with their middle left out.
#include <algorithm>

#include "catch.hpp"
#include "show/text/matrices.hpp"
#include "show/text/wrap.hpp"
#include "show/writers.hpp"

namespace mha::test {
namespace {

std::string laid_out(Equation equation, TextStyle style = {}) {
  Document document;
  document.blocks.emplace_back(std::move(equation));
  return write_text(document, style);
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    widest = std::max(widest, display_width(text.substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

Equation product() {
  Matrix x = matrix("X", {{"1", "0"}, {"0", "2"}, {"1", "1"}});
  x.row_labels = {"a", "书包", "c"};
  Matrix y = matrix("Y", {{"0.5", "-1.5"}, {"0.0", "2.0"}, {"0.5", "0.5"}});
  y.row_labels = x.row_labels;
  return {{x, "·", matrix("W", {{"1", "0"}, {"0", "1"}}), "=", y}};
}

TEST_CASE("side by side where it fits: labels once, aligned by width, operators in the middle") {
  CHECK(laid_out(product()) ==
        "           X            W               Y\n"
        "   a    ⎡ 1  0 ⎤     ⎡ 1  0 ⎤     ⎡ 0.5  -1.5 ⎤\n"
        "   书包 ⎢ 0  2 ⎥  ·  ⎣ 0  1 ⎦  =  ⎢ 0.0   2.0 ⎥\n"
        "   c    ⎣ 1  1 ⎦                  ⎣ 0.5   0.5 ⎦\n");
}

TEST_CASE("a name wider than its matrix makes room for itself, on whatever line it falls") {
  const Matrix tall = matrix("A", {{"1"}, {"2"}, {"3"}});
  const Equation sum{{tall, "+", matrix("b_long_name", {{"5"}}), "=", matrix("C", {{"6"}, {"7"}, {"8"}})}};
  CHECK(laid_out(sum) ==
        "     A                         C\n"
        "   ⎡ 1 ⎤     b_long_name     ⎡ 6 ⎤\n"
        "   ⎢ 2 ⎥  +  [ 5 ]        =  ⎢ 7 ⎥\n"
        "   ⎣ 3 ⎦                     ⎣ 8 ⎦\n");
}

TEST_CASE("one below the other where it does not fit") {
  CHECK(laid_out(product(), {32, false, false}) ==
        "              X\n"
        "      a    ⎡ 1  0 ⎤\n"
        "      书包 ⎢ 0  2 ⎥\n"
        "      c    ⎣ 1  1 ⎦\n"
        "              W\n"
        "           ⎡ 1  0 ⎤\n"
        "   ·       ⎣ 0  1 ⎦\n"
        "                 Y\n"
        "      a    ⎡ 0.5  -1.5 ⎤\n"
        "   =  书包 ⎢ 0.0   2.0 ⎥\n"
        "      c    ⎣ 0.5   0.5 ⎦\n");
}

TEST_CASE("columns move together before matrices move apart") {
  const std::string text = laid_out(product(), {44, false, false});
  CHECK(text.find("   a    ⎡ 1 0 ⎤     ⎡ 1 0 ⎤     ⎡ 0.5 -1.5 ⎤\n") != std::string::npos);
  CHECK(laid_out(product(), {36, false, false}).find("⎡1 0⎤   ⎡1 0⎤   ⎡0.5 -1.5⎤\n") != std::string::npos);
}

TEST_CASE("a matrix that is too wide alone becomes blocks of columns, counted in the page's base") {
  const Equation wide{{counting_matrix("X", 2, 30)}};
  const std::string text = laid_out(wide, {40, false, false});
  CHECK(text.find("X, columns 1–11 of 30\n") != std::string::npos);
  CHECK(text.find(" of 30\n", text.find("of 30\n") + 6) != std::string::npos);
  CHECK(widest_line(text) <= 40);
  for (Index i = 0; i < 60; ++i) CHECK(text.find(" " + std::to_string(i) + " ") != std::string::npos);

  Document document{Language::zh, 0, {wide}};
  CHECK(write_text(document, {40, false, false}).find("X，第 0–10 列，共 30 列\n") != std::string::npos);
}

TEST_CASE("groups of columns are set apart, and blocks break between them") {
  Matrix m = counting_matrix("Concat", 1, 8);
  m.groups = {{"head⁽¹⁾", 4}, {"head⁽²⁾", 4}};
  CHECK(laid_out({{m}}) ==
        "             Concat\n"
        "      head⁽¹⁾      head⁽²⁾\n"
        "   [ 0  1  2  3 │ 4  5  6  7 ]\n");
  const std::string narrow = laid_out({{m}}, {20, false, false});
  CHECK(narrow.find("[ 0 1 2 3 ]\n") != std::string::npos);
  CHECK(narrow.find("[ 4 5 6 7 ]\n") != std::string::npos);
}

TEST_CASE("what is left out is marked") {
  Matrix m = counting_matrix("A", 2, 2);
  m.rows = {9, 1, 1};
  m.columns = {9, 1, 1};
  m.row_labels = {"first", "last"};
  m.column_labels = {"a", "z"};
  m.row_sums = {"1", "2"};
  CHECK(laid_out({{m}}) ==
        "              A\n"
        "           a  …  z    Σ\n"
        "   first ⎡ 0  …  1 ⎤  1\n"
        "   ⋮     ⎢ ⋮  ⋱  ⋮ ⎥\n"
        "   last  ⎣ 2  …  3 ⎦  2\n");
}

TEST_CASE("columns line up at the decimal point") {
  CHECK(laid_out({{matrix("", {{"0.5"}, {"-12.25"}, {"−∞"}, {"1.000e+20"}})}}) ==
        "   ⎡   0.5       ⎤\n"
        "   ⎢ -12.25      ⎥\n"
        "   ⎢          −∞ ⎥\n"
        "   ⎣   1.000e+20 ⎦\n");
}

TEST_CASE("long labels are shortened, and further where room is short") {
  Matrix m = matrix("A", {{"0.5", "0.5"}});
  m.row_labels = {"a label that is far too long"};
  m.column_labels = {"another long one", "b"};
  const std::string text = laid_out({{m}});
  CHECK(text.find("a label that is… [") != std::string::npos);
  CHECK(text.find("another lon…    b\n") != std::string::npos);
  CHECK(widest_line(laid_out({{m}}, {24, false, false})) <= 24);
  CHECK(laid_out({{m}}, {24, true, true}).find('\xe2') == std::string::npos);
}

TEST_CASE("weights are shaded with colour, and the numbers stay") {
  Matrix m = matrix("A", {{"0.6", "0.1"}});
  m.cells[0].shade = 0.6f;
  m.cells[1].shade = 0.1f;
  std::string text = laid_out({{m}}, {80, true, false});
  CHECK(text.find("\x1b[48;5;") != std::string::npos);
  while (text.find('\x1b') != std::string::npos)
    text.erase(text.find('\x1b'), text.find('m', text.find('\x1b')) - text.find('\x1b') + 1);
  CHECK(text == laid_out({{m}}));
}

}  // namespace
}  // namespace mha::test
