// How steep an activation is.
#pragma once

#include "core/op.hpp"

namespace mha {

// f′(x); relu's at 0 is 0.
template <typename T>
T steepness(Activation activation, T x) {
  switch (activation) {
    case Activation::none: return 1;
    case Activation::relu: return x > 0 ? T(1) : T(0);
    case Activation::gelu:  // Φ(x) + x·φ(x)
      return T(0.5) * std::erfc(-x * T(0.70710678118654752440)) + x * T(0.39894228040143267794) * std::exp(T(-0.5) * x * x);
    case Activation::gelu_tanh: {
      const T u = std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x));
      const T inner = T(0.79788456080286535588) * (1 + T(0.134145) * x * x);
      return T(0.5) * (1 + u) + T(0.5) * x * (1 - u * u) * inner;
    }
    case Activation::silu: {
      const T s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
  }
  return 1;
}

}  // namespace mha
