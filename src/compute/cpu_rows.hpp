// What is computed from a whole row on the CPU: softmax and norms, attention's own and the ones that people compute
// instead; and the activations.
#pragma once

#include <limits>

#include "core/op_rules.hpp"

namespace mha::compute {

// The numbers that are normalised together: a row, a column, …
template <typename T>
struct Slice {
  const T* first;
  Index count;
  Index stride = 1;

  T operator[](Index i) const { return first[i * stride]; }
};

// NaN where there is one.
template <typename T>
T maximum(const Slice<T>& slice) {
  T result = slice[0];
  for (Index i = 1; i < slice.count; ++i)
    if (slice[i] > result || slice[i] != slice[i]) result = slice[i];
  return result;
}

// e^(z − max) / Σ e^(z − max) over one row. A row of −∞ has no key to attend to: zeros. NaN makes its row NaN.
template <typename T>
void softmax_row(const T* z, Index count, T* out) {
  const T largest = maximum(Slice<T>{z, count});
  if (largest == -std::numeric_limits<T>::infinity()) {
    std::fill_n(out, count, T(0));
    return;
  }
  T sum = 0;
  for (Index j = 0; j < count; ++j) sum += out[j] = std::exp(z[j] - largest);
  for (Index j = 0; j < count; ++j) out[j] /= sum;
}

// Any Softmax over one slice, an entry at a time.
template <typename T>
class Normalised {
 public:
  Normalised(const Slice<T>& slice, const Softmax& rule) : rule_(rule) {
    const T largest = maximum(slice);
    empty_ = largest == -std::numeric_limits<T>::infinity();
    if (rule.maximum_subtracted) shift_ = largest;
    if (rule.one_more) sum_ = 1;
    for (Index i = 0; i < slice.count; ++i) sum_ += power(slice[i]);
  }

  T operator()(T z) const {
    if (empty_) return rule_.empty_is_nan ? std::numeric_limits<T>::quiet_NaN() : T(0);
    return power(z) / sum_;
  }

 private:
  T power(T z) const {
    switch (rule_.power) {
      case Softmax::Power::e: return std::exp(z - shift_);
      case Softmax::Power::two: return std::exp2(z - shift_);
      case Softmax::Power::none: return z;
    }
    return z;
  }

  const Softmax& rule_;
  bool empty_ = false;
  T shift_ = 0;
  T sum_ = 0;
};

// (x − mean)/√(variance + eps), or x/√(mean of x² + eps), of the numbers of one slice.
template <typename T>
class Standard {
 public:
  Standard(const Slice<T>& slice, const Norm& norm) {
    const T count = static_cast<T>(slice.count);
    if (norm.kind == Norm::Kind::layer) {
      for (Index i = 0; i < slice.count; ++i) mean_ += slice[i];
      mean_ /= count;
    }
    T squares = 0;
    for (Index i = 0; i < slice.count; ++i) squares += (slice[i] - mean_) * (slice[i] - mean_);
    const T variance = squares / (norm.sample_variance ? count - 1 : count), eps = static_cast<T>(norm.eps);
    root_ = norm.eps_outside ? std::sqrt(variance) + eps : std::sqrt(variance + eps);
  }

  T operator()(T x) const { return (x - mean_) / root_; }
  T root() const { return root_; }

 private:
  T mean_ = 0, root_ = 0;
};

template <typename T>
void normalise_row(const Slice<T>& row, const Norm& norm, T* out) {
  const Standard<T> standard(row, norm);
  for (Index j = 0; j < row.count; ++j) out[j] = standard(row[j]);
}

// What g becomes on its way back through the norm of row x, with h = g ∘ γ (γ may be null):
// (h − mean of h − x̂·mean of h ∘ x̂) / root, and for rms without the mean of h.
template <typename T>
void norm_slope_row(const T* g, const T* gamma, const Slice<T>& x, const Norm& norm, T* out) {
  const Standard<T> standard(x, norm);
  T mean = 0, along = 0;
  for (Index j = 0; j < x.count; ++j) {
    out[j] = gamma == nullptr ? g[j] : g[j] * gamma[j];
    if (norm.kind == Norm::Kind::layer && !norm.mean_is_constant) mean += out[j];
    if (!norm.deviation_is_constant) along += out[j] * standard(x[j]);
  }
  const T count = static_cast<T>(x.count);
  mean /= count;
  along /= count;
  for (Index j = 0; j < x.count; ++j) out[j] = (out[j] - mean - standard(x[j]) * along) / standard.root();
}

template <typename T>
double dot_of_rows(const T* a, const T* b, Index count) {
  double sum = 0;
  for (Index j = 0; j < count; ++j) sum += double(a[j]) * double(b[j]);
  return sum;
}

// a ∘ (b − r); what is hidden is 0, not −0.
template <typename T>
void take_off_row(const T* a, const T* b, double r, Index count, T* out) {
  for (Index j = 0; j < count; ++j) out[j] = static_cast<T>(a[j] * (b[j] - r) + 0.0);
}

// NaN stays NaN. Φ(x) is ½·erfc(−x/√2), which keeps its digits far below 0.
template <typename T>
T activated(Activation activation, T x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return x < 0 ? T(0) : x;
    case Activation::gelu: return x * (T(0.5) * std::erfc(-x * T(0.70710678118654752440)));
    case Activation::gelu_tanh:
      return T(0.5) * x * (1 + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
  }
  return x;
}

}  // namespace mha::compute
