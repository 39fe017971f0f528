// Colours that can be told apart and read, and only where they are wanted.
#include "show/text/pen.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"

namespace mha::test {
namespace {

struct Color {
  int red, green, blue;
  int saturation() const { return std::max({red, green, blue}) - std::min({red, green, blue}); }
  // Relative (WCAG 2).
  double luminance() const {
    const auto channel = [](int level) {
      const double value = level / 255.0;
      return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  }
  double contrast_to(double luminance_there) const {
    const double here = luminance();
    return (std::max(here, luminance_there) + 0.05) / (std::min(here, luminance_there) + 0.05);
  }
};

// Of the 256-colour palette, in its 6×6×6 cube.
Color background(std::string_view codes) {
  REQUIRE(codes.rfind("48;5;", 0) == 0);
  REQUIRE(codes.substr(codes.size() - 9) == ";38;5;231");  // white numbers
  const int color = std::stoi(std::string(codes.substr(5)));
  REQUIRE(color < 232);
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  return {level((color - 16) / 36), level((color - 16) / 6 % 6), level((color - 16) % 6)};
}

TEST_CASE("a larger weight stands out more, on a dark terminal and on a light one") {
  int last = -1;
  for (int percent = 20; percent < 85; ++percent) {
    const Color color = background(shade_of(static_cast<float>(percent) / 100));
    CHECK(color.saturation() >= last);
    CHECK(color.contrast_to(0) > 3);    // beside a dark terminal
    CHECK(color.contrast_to(1) > 4.5);  // beside a light one, and under the number
    last = color.saturation();
  }
  CHECK(last == 255);
  CHECK(shade_of(0.85f) == "7");
  CHECK(shade_of(1) == "7");
}

TEST_CASE("small weights have no background") {
  for (const float weight : {0.0f, -1.0f, 0.01f, 0.19f, std::nanf("")}) CHECK(shade_of(weight).empty());
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
