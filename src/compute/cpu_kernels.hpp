// The kernels whose speed depends on the instruction set: pointers and sizes alone, so that each set can have its own copy.
#pragma once

#include <cstdint>

namespace mha::compute {

using Index = std::int64_t;

// c = a·b, and a bias on each row: rows×inner · inner×cols → rows×cols. The entries of a row of c are neighbours in memory,
// those of a row of a may be those of a column, where it is used transposed.
template <typename T>
struct ProductJob {
  const T* a;
  Index a_stride, a_step;  // from row to row, from entry to entry
  const T* b;              // as pack() leaves it
  T* c;
  Index c_stride;
  Index rows, inner, cols;
  const T* bias = nullptr;  // 1×cols, or null
  bool adds = false;        // to what c holds
};

// b in panels of neighbouring columns, so that a product reads it from first to last.
template <typename T>
struct PackJob {
  const T* b;
  Index b_stride;
  bool transposed;    // b stands as cols×inner
  Index inner, cols;  // of the whole b
  Index first, last;  // the columns that are to be brought over; `first` is a multiple of `packed_together`
  T* packed;          // where the whole b goes: packed_size numbers
};
inline constexpr Index packed_together = 64;

// A result never depends on how the rows are cut, nor on the caches of the machine: each sum is taken in one order.
template <typename T>
struct Kernels {
  Index (*packed_size)(Index inner, Index cols);
  void (*pack)(const PackJob<T>& job);
  void (*product)(const ProductJob<T>& job);
  // Of one row. −∞ alone gives zeros, NaN makes the row NaN.
  void (*softmax)(const T* z, Index cols, T* out);
  void (*multiply)(const T* a, T factor, Index count, T* out);
  void (*add)(const T* a, const T* b, Index count, T* out);
  // Σ a ∘ b, and out = a ∘ (b − r), as doubles.
  double (*dot)(const T* a, const T* b, Index count);
  void (*take_off)(const T* a, const T* b, double r, Index count, T* out);
};

struct CpuKernels {
  Kernels<float> f32;
  Kernels<double> f64;
};

}  // namespace mha::compute
