// How exactly the numbers of an answer are known.
#include "study/check/precision.hpp"

#include <algorithm>
#include <cmath>

namespace mha::study {
namespace {

constexpr double double_noise = 1e-12;
constexpr double float_noise = 2.4e-7;  // two units of the last bit of a 32-bit float
constexpr int float_digits = 9;         // as many identify every such float

// Whoever writes whole numbers does not compute with whole numbers in between.
constexpr int fewest_decimals_between = 1;

double magnitude(double number) {
  return std::isfinite(number) ? std::abs(number) : 0;
}

double half_unit(int decimals) {
  return 0.5 * std::pow(10.0, -decimals);
}

// Programs hand in 32-bit floats in two forms: with few digits, or exactly, with all the digits of a double.
bool may_be_floats(const io::Answer& answer) {
  if (answer.digits <= float_digits) return true;
  for (const io::AnswerMatrix& matrix : answer.matrices)
    for (std::size_t i = 0; i < matrix.numbers.size(); ++i) {
      const double number = matrix.numbers[i];
      if (matrix.step != StepId::X && std::isfinite(number) && static_cast<double>(static_cast<float>(number)) != number)
        return false;
    }
  return true;
}

}  // namespace

double Precision::written(double number) const {
  return absolute + (relative + noise) * magnitude(number);
}

double Precision::between(double number) const {
  return absolute_between + (relative + noise) * magnitude(number);
}

Precision precision_of(const io::Answer& answer, const ToleranceOptions& options) {
  Precision precision;
  precision.noise = may_be_floats(answer) ? float_noise : double_noise;
  if (options.tol || options.rtol) {
    precision.absolute = options.tol.value_or(0);
    precision.relative = options.rtol.value_or(0);
    precision.propagated = false;
  } else if (options.sigfig) {
    precision.relative = half_unit(*options.sigfig - 1);
  } else {
    precision.absolute = half_unit(answer.decimals);
    precision.absolute_between = half_unit(std::max(answer.decimals, fewest_decimals_between));
  }
  return precision;
}

}  // namespace mha::study
