// How the numbers of a matrix were computed, rounded and written.
#include "study/check/number_form.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mha::study {
namespace {

constexpr double roundings_of_written = 4;  // the number's, and what the operands' last bits do to it
constexpr double same_as_true = 1e-12;      // relative

// So many numbers tell what a larger matrix holds.
constexpr std::size_t most_looked_at = 4096;
// In bits. One number that has all its binary digits is proof enough; several outweigh one that a person has changed.
constexpr double most_of_exact = 12, most_of_shortest = 8, against = -12;
// A 16-bit number that needs none of its last three bits may come from exact work with few digits; one of 32 bits that
// needs no more than eleven may have 16.
constexpr double last_bits = 8, last_bits_of_32 = 8192;

double size_of_written(double number) {
  return std::isfinite(number) ? std::abs(number) : 0;
}

// "d.dde-x" with so many digits, or as many as tell it from every other double.
struct Decimal {
  std::array<char, 40> text{};
  int digits = 0;
  double value = 0;

  explicit Decimal(double number, std::optional<int> precision = {}) {
    const auto scientific = std::chars_format::scientific;
    const auto end = precision ? std::to_chars(text.begin(), text.end(), number, scientific, *precision - 1).ptr
                               : std::to_chars(text.begin(), text.end(), number, scientific).ptr;
    digits = static_cast<int>(
        std::count_if(text.begin(), std::find(text.begin(), end, 'e'), [](char c) { return c >= '0' && c <= '9'; }));
    std::from_chars(text.begin(), end, value);
  }
};

// The place of the last of so many significant digits.
double last_place(double number, int digits) {
  return std::pow(10.0, std::floor(std::log10(std::abs(number))) - (digits - 1));
}

// The place of the last digit that is no zero, the least among these.
double least_place(std::span<const double> numbers, std::size_t stride) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < numbers.size(); i += stride)
    if (numbers[i] != 0 && std::isfinite(numbers[i]))
      least = std::min(least, last_place(numbers[i], Decimal(numbers[i]).digits));
  return least;
}

// No shorter decimal, and no nearer one as short, stands for the same number of this kind.
bool is_shortest(const Floats& kind, double number, double stands_for) {
  const int digits = Decimal(number).digits;
  if (Decimal(stands_for, digits).value != number) return false;
  return digits == 1 || kind.nearest(Decimal(stands_for, digits - 1).value) != stands_for;
}

double evidence_of(const Floats& kind, double number, double written_unit) {
  const double nearest = kind.nearest(number), spacing = kind.spacing(number);
  // Of decimals so fine, a share written_unit / spacing are such numbers; of these, a share spacing / written_unit are so
  // short.
  const auto strength = [&](double most) { return std::clamp(std::log2(spacing / written_unit), against, most); };
  if (nearest == number) {
    const bool is_short = std::fmod(number / spacing, kind.bits < of_32_bits.bits ? last_bits : last_bits_of_32) == 0;
    return is_short || number == std::trunc(number) ? 0 : std::max(0.0, strength(most_of_exact));
  }
  return is_shortest(kind, number, nearest) ? strength(most_of_shortest) : against;
}

}  // namespace

double half_unit(int decimals) {
  return 0.5 * std::pow(10.0, -decimals);
}

double Floats::spacing(double number) const {
  int exponent = 0;
  std::frexp(number, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, least_exponent) - (bits - 1));
}

double Floats::nearest(double number) const {
  const double unit = spacing(number);
  return std::nearbyint(number / unit) * unit;
}

double NumberForm::written(double number) const {
  const double size = size_of_written(number);
  if (absolute) return *absolute + relative * size;
  const FloatingPoint& own = computed_in->arithmetic;
  const double computed = own.eps * (own.by_chance() ? own.chance : roundings_of_written) * size;
  return computed + (floats != nullptr ? computed_in->arithmetic.least : (cut_off ? 2 : 1) * half_unit_at(number));
}

double NumberForm::half_unit_at(double number) const {
  const double size = size_of_written(number);
  return digits ? std::max(least, size == 0 ? 0 : 0.5 * last_place(size, *digits)) : half_unit();
}

double NumberForm::half_unit() const {
  return absolute || floats != nullptr || digits ? 0 : study::half_unit(decimals);
}

double evidence(const Floats& kind, std::span<const double> numbers, const double* true_numbers,
                const io::Writing& writing) {
  const std::size_t stride = 1 + numbers.size() / most_looked_at;
  std::optional<double> unit;
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); i += stride) {
    const double number = numbers[i];
    // What is larger than all of them stands for −∞.
    if (number == 0 || !(std::abs(number) <= kind.arithmetic.greatest)) continue;
    if (true_numbers != nullptr && std::abs(number - true_numbers[i]) <= same_as_true * std::abs(number)) continue;
    if (!unit) unit = std::max(std::pow(10.0, -writing.decimals), least_place(numbers, stride));
    sum += evidence_of(kind, number, writing.all_in_e_notation ? last_place(number, writing.digits) : *unit);
  }
  return sum;
}

}  // namespace mha::study
