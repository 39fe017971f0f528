// Rounding by hand: half away from zero, on the decimal that twelve digits or more give.
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
  CHECK(round_by_hand(-1.0882858471469836, 10) == -1.0882858471);
  CHECK(round_by_hand(1.3219810059049, 12) == 1.321981005905);
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

TEST_CASE("more decimals than a double holds for sure: fifteen digits", "[rounding]") {
  CHECK(round_by_hand(123456789.123456789, 9) == 123456789.123457);
  CHECK(round_by_hand(1.0 / 3, 15) == 0.333333333333333);
  CHECK(round_by_hand(1e20, 3) == 1e20);
  CHECK(round_by_hand(1.7976931348623157e308, 2) == 1.7976931348623157e308);
}

TEST_CASE("numbers on a page are rounded as a pencil rounds them", "[rounding]") {
  CHECK(fixed_text(0.0625, 3) == "0.063");
  CHECK(fixed_text(-0.3125, 3) == "-0.313");
  CHECK(fixed_text(0.2005, 3) == "0.201");
  CHECK(fixed_text(0.5, 0) == "1");
  CHECK(fixed_text(12.5, 1) == "12.5");
  CHECK(fixed_text(12.5, 3) == "12.500");
  CHECK(fixed_text(999.9996, 3) == "1000.000");
  CHECK(fixed_text(0.00004, 4) == "0.0000");
  CHECK(fixed_text(0.00005, 4) == "0.0001");
  CHECK(fixed_text(-0.0002, 2) == "0.00");
  CHECK(fixed_text(-0.0, 2) == "0.00");
  CHECK(fixed_text(0, 0) == "0");
  CHECK(fixed_text(123456789, 2) == "123456789.00");
  CHECK(fixed_text(1.0 / 3, 17) == "0.33333333333333330");
  CHECK(fixed_text(1e-300, 3) == "0.000");
}

}  // namespace mha::test
