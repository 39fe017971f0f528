// Rounding by hand: half away from zero, on the decimal that twelve digits give.
#include "core/rounding.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

namespace mha::test {

TEST_CASE("halves go away from zero, also when their sum fell just short", "[rounding]") {
  CHECK(round_by_hand(0.0005, 3) == 0.001);
  CHECK(round_by_hand(-0.0005, 3) == -0.001);
  CHECK(round_by_hand(0.20049999999999998, 3) == 0.201);
  CHECK(round_by_hand(0.1 + 0.7 + 0.0005, 3) == 0.801);
  CHECK(round_by_hand(2.5, 0) == 3);
  CHECK(round_by_hand(-2.5, 0) == -3);
  CHECK(round_by_hand(0.5, 0) == 1);
  CHECK(round_by_hand(1.005, 2) == 1.01);
  CHECK(round_by_hand(0.2004, 3) == 0.2);
}

TEST_CASE("carries run through nines and into a new digit", "[rounding]") {
  CHECK(round_by_hand(9.9996, 3) == 10);
  CHECK(round_by_hand(0.9999, 3) == 1);
  CHECK(round_by_hand(-99.95, 1) == -100);
  CHECK(round_by_hand(0.06, 1) == 0.1);
  CHECK(round_by_hand(0.04, 1) == 0);
  CHECK(round_by_hand(0.96, 1) == 1);
}

TEST_CASE("zero has no sign, tiny numbers become zero, infinities and NaN stay", "[rounding]") {
  CHECK_FALSE(std::signbit(round_by_hand(-0.0, 2)));
  CHECK_FALSE(std::signbit(round_by_hand(-0.0002, 2)));
  CHECK(round_by_hand(1e-300, 3) == 0);
  CHECK(round_by_hand(-std::numeric_limits<double>::infinity(), 3) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(round_by_hand(std::numeric_limits<double>::quiet_NaN(), 3)));
}

TEST_CASE("more decimals than twelve digits hold: the twelve digits", "[rounding]") {
  CHECK(round_by_hand(123456789.123456789, 9) == 123456789.123);
  CHECK(round_by_hand(1.0 / 3, 15) == 0.333333333333);
  CHECK(round_by_hand(1e20, 3) == 1e20);
  CHECK(round_by_hand(1.7976931348623157e308, 2) == 1.79769313486e308);
}

}  // namespace mha::test
