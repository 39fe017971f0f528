// The CPU's kernels, compiled once for each instruction set, which MHA_KERNELS names. No function of this file may be
// shared with another: the linker keeps one copy of an inline function, and it might be the one that an older CPU cannot
// run. So everything here is in an anonymous namespace and nothing is called that another header defines.
#include "compute/cpu_kernels.hpp"

namespace mha::compute::MHA_KERNELS {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, tile_vectors = 4;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, tile_vectors = 2;
#elif defined(__aarch64__)
constexpr int vector_bytes = 16, tile_vectors = 4;
#else
constexpr int vector_bytes = 16, tile_vectors = 2;
#endif
constexpr int tile_rows = 6;        // 6 rows × tile_vectors of sums fill the registers
constexpr Index inner_block = 128;  // of b's rows, so that a panel of them stays in the first cache
constexpr int strip_bytes = 64;     // sums along a row are taken in as many lanes for every instruction set

#if defined(__clang__)
#define MHA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MHA_UNROLL _Pragma("GCC unroll 8")
#endif

template <typename T>
struct Types;
template <>
struct Types<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes), may_alias));
  typedef float Loose __attribute__((vector_size(vector_bytes), may_alias, aligned(4)));
  typedef std::int32_t BitsVector __attribute__((vector_size(vector_bytes), may_alias));
};
template <>
struct Types<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes), may_alias));
  typedef double Loose __attribute__((vector_size(vector_bytes), may_alias, aligned(8)));
  typedef std::int64_t BitsVector __attribute__((vector_size(vector_bytes), may_alias));
};
template <typename T>
using Vector = typename Types<T>::Vector;
template <typename T>
using BitsVector = typename Types<T>::BitsVector;

template <typename T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <typename T>
inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename Types<T>::Loose*>(from);
}
template <typename T>
inline void store(T* to, Vector<T> value) {
  *reinterpret_cast<typename Types<T>::Loose*>(to) = value;
}
template <typename T>
inline Vector<T> everywhere(T value) {
  return value - Vector<T>{};
}

// ── Product ──

template <typename T>
constexpr Index panel_columns = tile_vectors* lanes<T>;

// Columns of a panel that begins at `column`, with the zeros behind the last.
template <typename T>
Index panel_width(Index column, Index cols) {
  const Index left = cols - column;
  return left >= panel_columns<T> ? panel_columns<T> : (left + lanes<T> - 1) / lanes<T> * lanes<T>;
}

template <typename T>
Index packed_size(Index inner, Index cols) {
  return (cols + lanes<T> - 1) / lanes<T> * lanes<T> * inner;
}

// inner×width of b's columns, row after row.
template <typename T>
void pack_panel(const PackJob<T>& job, Index column, Index width, T* to) {
  const Index filled = column + width <= job.cols ? width : job.cols - column;
  if (job.transposed) {
    for (Index j = 0; j < filled; ++j) {
      const T* from = job.b + (column + j) * job.b_stride;
      for (Index k = 0; k < job.inner; ++k) to[k * width + j] = from[k];
    }
  } else {
    for (Index k = 0; k < job.inner; ++k) {
      const T* from = job.b + k * job.b_stride + column;
      for (Index j = 0; j < filled; ++j) to[k * width + j] = from[j];
    }
  }
  for (Index k = 0; k < job.inner; ++k)
    for (Index j = filled; j < width; ++j) to[k * width + j] = 0;
}

template <typename T>
void pack(const PackJob<T>& job) {
  for (Index column = job.first; column < job.last; column += panel_columns<T>)
    pack_panel(job, column, panel_width<T>(column, job.cols), job.packed + column * job.inner);
}

// Where a tile's sums go: added to what c holds from earlier rows of b, a bias behind the last.
template <typename T>
struct Target {
  T* c;
  Index stride;
  Index cols;  // fewer than the tile's at the right edge
  bool first;  // c holds nothing yet
  const T* bias;
};

template <typename T>
inline Vector<T> finished(Vector<T> sum, const T* earlier, const T* bias) {
  if (earlier != nullptr) sum = load(earlier) + sum;
  if (bias != nullptr) sum = sum + load(bias);
  return sum;
}

// The right edge, where c has fewer columns than the tile.
template <typename T>
void store_edge(const T* numbers, T* c, const Target<T>& to) {
  for (Index j = 0; j < to.cols; ++j) {
    T number = to.first ? numbers[j] : c[j] + numbers[j];
    if (to.bias != nullptr) number += to.bias[j];
    c[j] = number;
  }
}

// rows×inner · inner×(vectors·lanes), all sums in registers.
template <typename T, int rows, int vectors>
void tile(Index inner, const T* a, Index a_stride, Index a_step, const T* b, const Target<T>& to) {
  Vector<T> sum[rows][vectors];
  Index offset[rows];
  MHA_UNROLL
  for (int r = 0; r < rows; ++r) {
    offset[r] = r * a_stride;
    MHA_UNROLL
    for (int v = 0; v < vectors; ++v) sum[r][v] = Vector<T>{};
  }
  for (Index k = 0; k < inner; ++k, b += vectors * lanes<T>, a += a_step) {
    Vector<T> right[vectors];
    MHA_UNROLL
    for (int v = 0; v < vectors; ++v) right[v] = load(b + v * lanes<T>);
    MHA_UNROLL
    for (int r = 0; r < rows; ++r) {
      const Vector<T> left = everywhere(a[offset[r]]);
      MHA_UNROLL
      for (int v = 0; v < vectors; ++v) sum[r][v] += left * right[v];
    }
  }
  MHA_UNROLL
  for (int r = 0; r < rows; ++r) {
    T* c = to.c + r * to.stride;
    T edge[vectors * lanes<T>];
    MHA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const int at = v * lanes<T>;
      if (to.cols < vectors * lanes<T>)
        store(edge + at, sum[r][v]);
      else
        store(c + at, finished<T>(sum[r][v], to.first ? nullptr : c + at, to.bias != nullptr ? to.bias + at : nullptr));
    }
    if (to.cols < vectors * lanes<T>) store_edge(edge, c, to);
  }
}

template <typename T>
using Tile = void (*)(Index, const T*, Index, Index, const T*, const Target<T>&);

template <typename T, int rows>
Tile<T> tile_of_width(Index vectors) {
  if constexpr (tile_vectors >= 4) {
    if (vectors == 4) return tile<T, rows, 4>;
    if (vectors == 3) return tile<T, rows, 3>;
  }
  return vectors == 2 ? tile<T, rows, 2> : tile<T, rows, 1>;
}

template <typename T>
Tile<T> tile_of(Index rows, Index vectors) {
  switch (rows) {
    case 1: return tile_of_width<T, 1>(vectors);
    case 2: return tile_of_width<T, 2>(vectors);
    case 3: return tile_of_width<T, 3>(vectors);
    case 4: return tile_of_width<T, 4>(vectors);
    case 5: return tile_of_width<T, 5>(vectors);
    default: return tile_of_width<T, tile_rows>(vectors);
  }
}

// A panel of b, a block of its rows, then all rows of a: that block of the panel is read from the first cache.
template <typename T>
void product(const ProductJob<T>& job) {
  for (Index column = 0; column < job.cols; column += panel_columns<T>) {
    const Index width = panel_width<T>(column, job.cols), vectors = width / lanes<T>;
    const T* panel = job.b + column * job.inner;
    const Index filled = column + width <= job.cols ? width : job.cols - column;
    Index k = 0;
    do {  // once even where there is nothing to sum: c is then the bias
      const Index depth = job.inner - k < inner_block ? job.inner - k : inner_block;
      const T* bias = job.bias != nullptr && k + depth == job.inner ? job.bias + column : nullptr;
      for (Index i = 0; i < job.rows; i += tile_rows) {
        const Index rows = job.rows - i < tile_rows ? job.rows - i : tile_rows;
        const Target<T> target{job.c + i * job.c_stride + column, job.c_stride, filled, k == 0 && !job.adds, bias};
        tile_of<T>(rows, vectors)(depth, job.a + i * job.a_stride + k * job.a_step, job.a_stride, job.a_step,
                                  panel + k * width, target);
      }
      k += depth;
    } while (k < job.inner);
  }
}

// ── Softmax ──

template <typename T>
inline Vector<T> larger(Vector<T> a, Vector<T> b) {
  return a > b ? a : b;
}

// e^x for x ≤ 0, within an ulp or two: x = n·ln 2 + r with |r| ≤ ln 2 / 2, then e^r·2^n. NaN stays NaN.
// The coefficients are those of Cephes (Moshier), a polynomial for float and a quotient of two for double.
struct ExpFloat {
  static constexpr float log2_e = 1.44269504088896341f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float least = -87;          // e^least is a normal number, and what is smaller gives 0
  static constexpr float round = 12582912.0f;  // adding 1.5·2²³ rounds to whole numbers
  static constexpr std::int32_t mantissa = 23, bias = 127;
  static inline Vector<float> power(Vector<float> r) {
    Vector<float> y = r * 1.9875691500e-4f + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    return y * (r * r) + r + 1.0f;
  }
};
struct ExpDouble {
  static constexpr double log2_e = 1.4426950408889634073599, ln2_high = 6.93145751953125e-1;
  static constexpr double ln2_low = 1.42860682030941723212e-6;
  static constexpr double least = -708, round = 6755399441055744.0;  // 1.5·2⁵²
  static constexpr std::int64_t mantissa = 52, bias = 1023;
  static inline Vector<double> power(Vector<double> r) {
    const Vector<double> rr = r * r;
    const Vector<double> p =
        r * ((rr * 1.26177193074810590878e-4 + 3.02994407707441961300e-2) * rr + 9.99999999999999999910e-1);
    const Vector<double> q =
        ((rr * 3.00198505138664455042e-6 + 2.52448340349684104192e-3) * rr + 2.27265548208155028766e-1) * rr + 2.0;
    return 1.0 + 2.0 * (p / (q - p));
  }
};
template <typename T>
struct ExpOf;
template <>
struct ExpOf<float> : ExpFloat {};
template <>
struct ExpOf<double> : ExpDouble {};

template <typename T>
inline Vector<T> exponential(Vector<T> x) {
  using Exp = ExpOf<T>;
  const Vector<T> magic = everywhere<T>(Exp::round);
  const BitsVector<T> zero = reinterpret_cast<BitsVector<T>>(magic);
  const auto vanishes = x < Exp::least;
  x = vanishes ? everywhere<T>(Exp::least)
               : x;  // also for the processor's sake: subnormal numbers take it 100 times as long
  const Vector<T> shifted = x * Exp::log2_e + magic, n = shifted - magic;
  const Vector<T> r = (x - n * Exp::ln2_high) - n * Exp::ln2_low;
  const BitsVector<T> exponent = reinterpret_cast<BitsVector<T>>(shifted) - zero + Exp::bias;
  const Vector<T> result = Exp::power(r) * reinterpret_cast<Vector<T>>(exponent << Exp::mantissa);
  return vanishes ? Vector<T>{} : result;
}

// A row's entries, a strip at a time; the last strip filled up with −∞, which neither the maximum nor the sum feels.
template <typename T>
struct Strip {
  static constexpr int vectors = strip_bytes / vector_bytes;
  static constexpr Index count = strip_bytes / sizeof(T);
  Vector<T> part[vectors];
};

template <typename T>
inline Strip<T> load_strip(const T* from) {
  Strip<T> strip;
  for (int v = 0; v < Strip<T>::vectors; ++v) strip.part[v] = load(from + v * lanes<T>);
  return strip;
}
template <typename T>
inline void store_strip(T* to, const Strip<T>& strip) {
  for (int v = 0; v < Strip<T>::vectors; ++v) store(to + v * lanes<T>, strip.part[v]);
}
template <typename T>
inline Strip<T> load_last(const T* from, Index count) {
  T numbers[Strip<T>::count];
  for (Index j = 0; j < Strip<T>::count; ++j) numbers[j] = j < count ? from[j] : -static_cast<T>(__builtin_inf());
  return load_strip(numbers);
}

template <typename T>
T largest_of_row(const T* z, Index cols) {
  Strip<T> most;
  for (Vector<T>& part : most.part) part = everywhere(-static_cast<T>(__builtin_inf()));
  const auto look = [&](const Strip<T>& strip) {
    for (int v = 0; v < Strip<T>::vectors; ++v) most.part[v] = larger<T>(strip.part[v], most.part[v]);
  };
  Index j = 0;
  for (; j + Strip<T>::count <= cols; j += Strip<T>::count) look(load_strip(z + j));
  if (j < cols) look(load_last(z + j, cols - j));
  T numbers[Strip<T>::count];
  store_strip(numbers, most);
  T largest = numbers[0];
  for (const T number : numbers) largest = number > largest ? number : largest;
  return largest;
}

// out = e^(z − largest); returns their sum.
template <typename T>
T exponentials_of_row(const T* z, Index cols, T largest, T* out) {
  Strip<T> sum{};
  const auto take = [&](Strip<T> strip) {
    for (int v = 0; v < Strip<T>::vectors; ++v) {
      strip.part[v] = exponential<T>(strip.part[v] - largest);
      sum.part[v] += strip.part[v];
    }
    return strip;
  };
  Index j = 0;
  for (; j + Strip<T>::count <= cols; j += Strip<T>::count) store_strip(out + j, take(load_strip(z + j)));
  T numbers[Strip<T>::count];
  if (j < cols) {
    store_strip(numbers, take(load_last(z + j, cols - j)));
    for (Index i = j; i < cols; ++i) out[i] = numbers[i - j];
  }
  store_strip(numbers, sum);
  for (Index half = Strip<T>::count / 2; half > 0; half /= 2)
    for (Index i = 0; i < half; ++i) numbers[i] += numbers[i + half];
  return numbers[0];
}

template <typename T>
void softmax(const T* z, Index cols, T* out) {
  const T largest = largest_of_row(z, cols);
  if (largest == -static_cast<T>(__builtin_inf())) {  // nothing but −∞, or NaN, which no comparison finds
    T number = 0;
    for (Index j = 0; j < cols; ++j) number = z[j] != z[j] ? z[j] : number;
    for (Index j = 0; j < cols; ++j) out[j] = number;
    return;
  }
  const T scale = 1 / exponentials_of_row(z, cols, largest, out);
  for (Index j = 0; j < cols; ++j) out[j] *= scale;
}

// ── Entry by entry: the compiler finds the vectors ──

template <typename T>
void multiply(const T* a, T factor, Index count, T* out) {
  for (Index i = 0; i < count; ++i) out[i] = a[i] * factor;
}

template <typename T>
void add(const T* a, const T* b, Index count, T* out) {
  for (Index i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

// ── As doubles, eight lanes for every instruction set ──

typedef double Doubles __attribute__((vector_size(64)));
template <typename T>
struct Eight;
template <>
struct Eight<float> {
  typedef float Loose __attribute__((vector_size(32), may_alias, aligned(4)));
};
template <>
struct Eight<double> {
  typedef double Loose __attribute__((vector_size(64), may_alias, aligned(8)));
};

template <typename T>
inline void load_eight(const T* from, Doubles& to) {
  to = __builtin_convertvector(*reinterpret_cast<const typename Eight<T>::Loose*>(from), Doubles);
}

template <typename T>
double dot(const T* a, const T* b, Index count) {
  Doubles sums{}, left, right;
  Index j = 0;
  for (; j + 8 <= count; j += 8) {
    load_eight(a + j, left), load_eight(b + j, right);
    sums += left * right;
  }
  double sum = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  for (; j < count; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

// What is hidden is 0, not −0.
template <typename T>
void take_off(const T* a, const T* b, double r, Index count, T* out) {
  Doubles left, right;
  Index j = 0;
  for (; j + 8 <= count; j += 8) {
    load_eight(a + j, left), load_eight(b + j, right);
    *reinterpret_cast<typename Eight<T>::Loose*>(out + j) =
        __builtin_convertvector(left * (right - r) + 0.0, typename Eight<T>::Loose);
  }
  for (; j < count; ++j) out[j] = static_cast<T>(a[j] * (b[j] - r) + 0.0);
}

template <typename T>
constexpr Kernels<T> all = {packed_size<T>, pack<T>, product<T>, softmax<T>, multiply<T>, add<T>, dot<T>, take_off<T>};

}  // namespace

extern const CpuKernels kernels;
const CpuKernels kernels = {all<float>, all<double>};

}  // namespace mha::compute::MHA_KERNELS
