// Rounding as a person with a pencil does it: on the decimal digits.
#include "core/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace mha {
namespace {

constexpr int significant = 12, spare = 3, sure = 15;  // digits; 15 survive any double

struct Decimal {
  std::string digits;  // d₁d₂…, standing for d₁.d₂… × 10^exponent
  int exponent = 0;
};

Decimal parsed(std::string_view scientific) {
  const std::size_t e = scientific.find('e');
  Decimal decimal;
  for (const char c : scientific.substr(0, e))
    if (c != '.') decimal.digits += c;
  const char* exponent = scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, scientific.data() + scientific.size(), decimal.exponent);
  return decimal;
}

// The magnitude with so many digits behind its first one, or as few as read back to it.
template <typename... Precision>
Decimal written(double magnitude, Precision... precision) {
  std::array<char, 32> text{};
  char* const end = std::to_chars(text.begin(), text.end(), magnitude, std::chars_format::scientific, precision...).ptr;
  return parsed({text.data(), static_cast<std::size_t>(end - text.data())});
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

// Keeps this many decimal places, half away from zero. Without digits: nothing is left.
void round_to(Decimal& decimal, int decimals) {
  const int kept = decimal.exponent + 1 + decimals;  // how many of the digits stay
  if (kept >= static_cast<int>(decimal.digits.size())) return;
  const bool up = kept >= 0 && decimal.digits[static_cast<std::size_t>(kept)] >= '5';
  decimal.digits.resize(static_cast<std::size_t>(std::max(kept, 0)));
  if (kept == 0) decimal = {std::string(1, '0'), decimal.exponent + 1};  // room for a carry: 0.0006 to three places
  if (up) increment(decimal);
}

}  // namespace

double round_by_hand(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  Decimal decimal = written(std::abs(value), significant - 1);
  // Digits to spare, or the decimal is no longer on the side of the half on which the value was.
  if (const int needed = decimal.exponent + 1 + decimals + spare; needed > significant)
    decimal = written(std::abs(value), std::min(needed, sure) - 1);
  round_to(decimal, decimals);
  if (decimal.digits.empty()) return 0;
  const std::string_view digits = decimal.digits;
  const std::string text = fmt::format("{}.{}e{}", digits.substr(0, 1), digits.substr(1), decimal.exponent);
  double magnitude = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), magnitude).ec != std::errc()) return value;  // the largest
  return value < 0 && magnitude != 0 ? -magnitude : magnitude;
}

std::string fixed_text(double value, int decimals) {
  Decimal decimal = written(std::abs(value));
  round_to(decimal, decimals);
  const bool zero = decimal.digits.find_first_not_of('0') == std::string::npos;
  if (zero) decimal = {std::string(1, '0'), 0};
  std::string digits = decimal.exponent < 0 ? std::string(static_cast<std::size_t>(-decimal.exponent), '0') : std::string();
  digits += decimal.digits;
  const std::size_t whole = static_cast<std::size_t>(std::max(decimal.exponent, 0)) + 1;
  digits.resize(std::max(digits.size(), whole + static_cast<std::size_t>(decimals)), '0');
  std::string text = value < 0 && !zero ? "-" : "";
  text.append(digits, 0, whole);
  if (decimals > 0) text.append(1, '.').append(digits, whole, static_cast<std::size_t>(decimals));
  return text;
}

}  // namespace mha
