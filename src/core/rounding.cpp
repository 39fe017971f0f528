// Rounding as a person with a pencil does it: on the decimal digits.
#include "core/rounding.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace mha {
namespace {

constexpr int significant = 12;

struct Decimal {
  std::string digits;  // d₁d₂…, standing for d₁.d₂… × 10^exponent
  int exponent = 0;
};

// The magnitude with 12 significant digits.
Decimal written(double magnitude) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::scientific, significant - 1).ptr;
  const std::string_view whole(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t e = whole.find('e');
  Decimal decimal{std::string(whole.substr(0, 1)) + std::string(whole.substr(2, e - 2)), 0};
  const char* exponent = text.data() + e + (whole[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, end, decimal.exponent);
  return decimal;
}

// One unit more in the last digit.
void increment(Decimal& decimal) {
  std::size_t i = decimal.digits.size();
  while (i > 0 && decimal.digits[i - 1] == '9') decimal.digits[--i] = '0';
  if (i > 0) {
    ++decimal.digits[i - 1];
  } else {
    decimal.digits.insert(decimal.digits.begin(), '1');
    ++decimal.exponent;
  }
}

}  // namespace

double round_by_hand(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  Decimal decimal = written(std::abs(value));
  const int kept = decimal.exponent + 1 + decimals;  // how many of the digits stay
  if (kept < 0) return 0;
  if (kept < significant) {
    const bool up = decimal.digits[static_cast<std::size_t>(kept)] >= '5';
    decimal.digits.resize(static_cast<std::size_t>(kept));
    if (kept == 0) decimal = {std::string(1, '0'), decimal.exponent + 1};  // room for a carry: 0.0006 to three places
    if (up) increment(decimal);
  }
  const std::string_view digits = decimal.digits;
  const std::string text = fmt::format("{}.{}e{}", digits.substr(0, 1), digits.substr(1), decimal.exponent);
  double magnitude = 0;
  std::from_chars(text.data(), text.data() + text.size(), magnitude);
  return value < 0 && magnitude != 0 ? -magnitude : magnitude;
}

}  // namespace mha
