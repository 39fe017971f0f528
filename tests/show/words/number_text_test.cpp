// How numbers read: decimals for a whole matrix, no negative zero, infinities, large and tiny values.
#include "show/words/number_text.hpp"

#include <limits>

#include "catch.hpp"

namespace mha::test {
namespace {

using Origin = NumberStyle::Origin;
constexpr double infinity = std::numeric_limits<double>::infinity();

NumberStyle style_of(std::initializer_list<double> numbers, Origin origin = Origin::computed, int precision = 3) {
  NumberStyle style(precision, origin);
  for (const double number : numbers) style.see(number);
  return style;
}

TEST_CASE("a matrix of integers prints as integers, any other with one number of decimals") {
  CHECK(style_of({1, 0, -2}).text(-2) == "-2");
  CHECK(style_of({1, 0.5}).text(1) == "1.000");
  CHECK(style_of({1, 0.5}).text(0.5) == "0.500");
  CHECK(style_of({1, 2}).text(0.25) == "0.250");  // a number that was not seen is not cut to an integer
}

TEST_CASE("given numbers keep the decimals that they were written with") {
  const NumberStyle style = style_of({0.5, 1.25, 2}, Origin::given);
  CHECK(style.text(0.5) == "0.50");
  CHECK(style.text(2) == "2.00");
  CHECK(style_of({0.123456}, Origin::given).text(0.123456) == "0.123");
  CHECK(style_of({1e-7}, Origin::given).text(1e-7) == "0.000");
}

TEST_CASE("zero is never negative") {
  CHECK(style_of({0.5}, Origin::computed, 2).text(-0.0002) == "0.00");
  CHECK(style_of({-0.0}).text(-0.0) == "0");
  CHECK(style_of({0.5}, Origin::computed, 2).text(-0.006) == "-0.01");
}

TEST_CASE("infinities and NaN do not decide over decimals") {
  const NumberStyle style = style_of({-infinity, 3, std::numeric_limits<double>::quiet_NaN()});
  CHECK(style.text(3) == "3");
  CHECK(style.text(-infinity) == "−∞");
  CHECK(style.text(infinity) == "∞");
  CHECK(style.text(std::numeric_limits<double>::quiet_NaN()) == "NaN");
}

TEST_CASE("numbers beyond all digits are in scientific notation") {
  CHECK(style_of({1e20}).text(1e20) == "1.000e+20");
  CHECK(style_of({-2.5e300}, Origin::computed, 1).text(-2.5e300) == "-2.5e+300");
  CHECK(style_of({123456789}).text(123456789) == "123456789");
}

TEST_CASE("negative terms stand in parentheses") {
  CHECK(style_of({-1}).term(-1) == "(-1)");
  CHECK(style_of({-1}).term(1) == "1");
  CHECK(style_of({0.5}).term(-infinity) == "(−∞)");
  CHECK(style_of({0.5}, Origin::computed, 1).term(-0.01) == "0.0");
}

TEST_CASE("fixed numbers are never shortened") {
  CHECK(style_of({1}).fixed(1) == "1.000");
}

}  // namespace
}  // namespace mha::test
