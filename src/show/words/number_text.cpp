// How a number reads on a page.
#include "show/words/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rounding.hpp"

namespace mha::show {
namespace {

// From here on a double has no decimals to show, and its digits are more than anyone reads.
constexpr double too_large_to_write_out = 1e15;

std::string spelled(double value, int decimals, int precision) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  if (std::abs(value) >= too_large_to_write_out) return fmt::format("{:.{}e}", value, precision);
  return fixed_text(value, decimals);
}

}  // namespace

void NumberStyle::see(double value) {
  decimals_ = std::max(decimals_, decimals_of(value));
}

std::string NumberStyle::text(double value) const {
  return spelled(value, std::max(decimals_, decimals_of(value)), precision_);
}

std::string NumberStyle::term(double value) const {
  const std::string plain = text(value);
  const bool negative = plain.front() == '-' || plain.rfind("−", 0) == 0;
  return negative ? "(" + plain + ")" : plain;
}

bool NumberStyle::rounds(double value) const {
  if (value == std::trunc(value) || std::abs(value) >= too_large_to_write_out) return false;
  const double shown = round_by_hand(value, std::max(decimals_, decimals_of(value)));
  return std::abs(shown - value) > 1e-12 * std::abs(value);
}

std::string NumberStyle::fixed(double value) const {
  return spelled(value, precision_, precision_);
}

int NumberStyle::decimals_of(double value) const {
  if (!std::isfinite(value) || value == std::trunc(value)) return 0;
  if (origin_ == Origin::computed) return precision_;
  const std::string shortest = fmt::format("{}", value);
  const std::size_t point = shortest.find('.');
  if (point == std::string::npos || shortest.find('e') != std::string::npos) return precision_;
  return std::min(precision_, static_cast<int>(shortest.size() - point - 1));
}

std::string full_text(double value) {
  return fmt::format("{}", value);
}

std::string short_text(double value) {
  return fmt::format("{:.3g}", value);
}

}  // namespace mha::show
