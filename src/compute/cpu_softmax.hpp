// Softmax on the CPU: attention's own, and the ones that people compute instead.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/op.hpp"
#include "core/tensor.hpp"

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

}  // namespace mha::compute
