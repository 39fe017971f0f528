// Colours that can be told apart and read, and only where they are wanted.
#include "show/text/pen.hpp"

#include <cmath>

#include "catch.hpp"

namespace mha::test {
namespace {

// Relative luminance (WCAG 2) of a colour of the 6×6×6 cube in the 256-colour palette.
double luminance(int color) {
  const auto channel = [](int level) {
    const double value = (level == 0 ? 0 : 55 + 40 * level) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  const int cube = color - 16;
  return 0.2126 * channel(cube / 36) + 0.7152 * channel(cube / 6 % 6) + 0.0722 * channel(cube % 6);
}

TEST_CASE("shades darken with the weight, and their numbers can be read") {
  double last = 2;
  for (int percent = 1; percent <= 100; ++percent) {
    const Shade* shade = shade_of(static_cast<float>(percent) / 100);
    REQUIRE(shade != nullptr);
    const double back = luminance(shade->background), front = luminance(shade->foreground);
    CHECK(back <= last);
    CHECK((std::max(back, front) + 0.05) / (std::min(back, front) + 0.05) >= 4.5);
    last = back;
  }
  CHECK(last < 0.1);
}

TEST_CASE("nothing is shaded where there is no weight") {
  CHECK(shade_of(0) == nullptr);
  CHECK(shade_of(-1) == nullptr);
  CHECK(shade_of(std::nanf("")) == nullptr);
}

TEST_CASE("colour only with colour") {
  const Cell cell{"0.5", Cell::Mark::worked, 0.5f};
  CHECK(Pen(TextStyle{80, false, false}).cell("0.5", cell) == "0.5");
  CHECK(Pen(TextStyle{80, false, false}).bold("x") == "x");
  CHECK(Pen(TextStyle{80, true, false}).bold("x") == "\x1b[1mx\x1b[0m");
  CHECK(Pen(TextStyle{80, true, false}).cell("0.5", cell).find("0.5\x1b[0m") != std::string::npos);
}

TEST_CASE("a person's words are escaped but never respelled") {
  const Words words = Words("a → ").quote("b → \x1b");
  CHECK(Pen(TextStyle{80, false, true}).words(words) == "a -> b → \\x1b");
}

}  // namespace
}  // namespace mha::test
