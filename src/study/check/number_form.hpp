// How the numbers of a matrix were computed, rounded and written, and how far each may therefore be from the one that was
// meant.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "io/json/tree.hpp"
#include "study/check/exactness.hpp"

namespace mha::study {

// The floating point that programs hand in, coarsest first: IEEE 754-2019, section 3.6, and bfloat16.
struct Floats {
  std::string_view option;
  std::string_view name;
  int bits;            // of the significand
  int least_exponent;  // of a number with all of them
  FloatingPoint arithmetic;

  // The number of this kind that is nearest, and how far apart two of them are there.
  double nearest(double number) const;
  double spacing(double number) const;
};

// One rounding each, since float64 as the reference is far more exact; and more of a double than that, of which some digits
// may be cut off. 16-bit programs take exp and tanh in 32 bits and round once. Their roundings are too large to be all at
// their worst: 64 would be half of a bfloat16 sum. The error of one rounding is spread evenly, with a deviation of 1/√3 of
// the greatest: three times the greatest is five deviations. Sums in bfloat16 are held in 32 bits, unless they are written
// out.
inline constexpr double rounded_once = 3, five_deviations = 3, written_out = 8;
inline constexpr std::array float_kinds = {
    Floats{"bf16", "bfloat16", 8, -126, {0x1p-8, 0x1p-126, 0x1.FEp127, rounded_once, five_deviations, written_out}},
    Floats{"f16", "float16", 11, -14, {0x1p-11, 0x1p-24, 65504, rounded_once, five_deviations}},
    Floats{"f32", "float32", 24, -126, {0.6e-7, 0x1p-126, 0x1.FFFFFEp127}},
    Floats{"f64", "float64", 53, -1022, {2.5e-13, 0x1p-1022}},
};
inline constexpr const Floats &of_32_bits = float_kinds[2], &of_64_bits = float_kinds[3];

struct NumberForm {
  // The first that is there: a tolerance of its own; numbers of this kind; significant digits; decimals.
  std::optional<double> absolute;  // with `relative`
  double relative = 0;
  const Floats* floats = nullptr;
  std::optional<int> digits;
  double least = 0;  // beside digits, half a unit of the finest place that is written: 0 beside 1e-4 may be 0.00004
  int decimals = 0;
  bool cut_off = false;  // what is behind them was left away instead of rounded
  const Floats* computed_in = &of_64_bits;

  // How far a written number may be from the one that was meant.
  double written(double number) const;
  bool is_told_as(const NumberForm& other) const {
    return std::tie(absolute, floats, digits, decimals) ==
           std::tie(other.absolute, other.floats, other.digits, other.decimals);
  }
  // Half a unit of the last place that is written; 0 where the numbers are not decimals.
  double half_unit() const;
  // The same of this number, which may be one of significant digits.
  double half_unit_at(double number) const;
};

double half_unit(int decimals);

// How strongly the numbers speak for being of this kind, in bits: each exactly one, or the shortest decimal that stands for
// one. Numbers that would be so anyway, since they are written with few digits or are `true_numbers` (null: not known), say
// nothing; one that is not of the kind speaks against it.
double evidence(const Floats& kind, std::span<const double> numbers, const double* true_numbers,
                const io::Writing& writing);

}  // namespace mha::study
