// Doubles as floats, for the backends that compute with those.
#pragma once

#include "core/error.hpp"
#include "core/tensor.hpp"

namespace mha::compute {

[[noreturn]] inline void refuse_float(double number, std::string_view symbol) {
  throw Error(
      {"{} holds {}, which f32 cannot hold; compute with --dtype f64", "{} 中有 {}，f32 放不下；请用 --dtype f64 计算"},
      symbol, number);
}

// All numbers of the tensor, straight from the file where they lie in one. Throws Error where a finite number would become
// an infinite one unseen; `symbol` says whose it is.
inline void to_floats(const Tensor& tensor, std::string_view symbol, float* to) {
  if (tensor.stored()) {
    if (tensor.size() > 0) tensor.stored()->read_rows(0, tensor.size() / tensor.shape().cols, to);
    return;
  }
  const double* numbers = tensor.data();
  for (Index i = 0; i < tensor.size(); ++i) {
    to[i] = static_cast<float>(numbers[i]);
    if (std::isfinite(numbers[i]) && !std::isfinite(to[i])) refuse_float(numbers[i], symbol);
  }
}

// Throws the same Error unless this number, which is not 0, is one in float as well.
inline void expect_float(double number, std::string_view symbol) {
  const float rounded = static_cast<float>(number);
  if (rounded == 0 || !std::isfinite(rounded)) refuse_float(number, symbol);
}

}  // namespace mha::compute
