// The steps of attention on an OpenCL device: one kernel for each op, each serving all matrices of a batch at once.
//
// The host gives these names when it builds the program (src/compute/opencl_program.cpp):
//   REAL     float or double, the type of every number here
//   WIDTH    how many of them a vector of this device holds: 2, 4, 8 or 16
//   USE_FMA  only where the device multiplies and adds in one instruction
//   GROUP    work-items of a group that takes a softmax; a power of two
//   TILED    only where a group may have 256 work-items, as the tiled product wants
//
// Every value is batch × heads × rows × cols, row after row, as in src/core/tensor.hpp. Unless a kernel says otherwise, a
// work-item makes one entry of the result: dimension 0 is the column j, 1 the row i, 2 the matrix z = item·heads + head.
// The host rounds dimensions 0 and 1 up, so that groups have one size: the items behind the last column or row do nothing.

// The compiler must not fuse a·b+c as it likes: every device shall give the same number. Where a fused one is wanted it
// says fma.
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef long4 Shape;  // batch, heads, rows, cols
#define BATCH(shape) ((shape).x)
#define HEADS(shape) ((shape).y)
#define ROWS(shape) ((shape).z)
#define COLS(shape) ((shape).w)

// sum + a·b
#ifdef USE_FMA
#define PLUS_PRODUCT(sum, a, b) fma((a), (b), (sum))
#else
#define PLUS_PRODUCT(sum, a, b) ((sum) + (a) * (b))
#endif

// Where the matrix of an operand starts that serves matrix z of the result. Outer axes are broadcast by the rule of
// src/core/tensor.hpp, ⌊i·small/large⌋: one for all, or grouped-query attention's key/value head. The first two lines save
// the divisions, which cost more than all the rest of an entry.
long matrix_for(long z, Shape onto, Shape from) {
  if (BATCH(from) == BATCH(onto) && HEADS(from) == HEADS(onto)) return z * ROWS(from) * COLS(from);
  if (BATCH(from) == 1 && HEADS(from) == 1) return 0;
  const long item = z / HEADS(onto) * BATCH(from) / BATCH(onto);
  const long head = z % HEADS(onto) * HEADS(from) / HEADS(onto);
  return (item * HEADS(from) + head) * ROWS(from) * COLS(from);
}

// Where the row of an operand starts that serves row i of the result's matrix z: one row may serve all.
long row_for(long z, long i, Shape onto, Shape from) {
  return matrix_for(z, onto, from) + (ROWS(from) == 1 ? 0 : i) * COLS(from);
}

// The number in a row of an operand that serves column j: one may serve all.
REAL number_for(long j, global const REAL* row, Shape from) {
  return COLS(from) == 1 ? row[0] : row[j];
}

// Where entry (z, i, j) of the result itself stands.
long entry_of(long z, long i, long j, Shape shape) {
  return (z * ROWS(shape) + i) * COLS(shape) + j;
}

// ── product ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
// out[i, j] = Σ a[i, p]·b[p, j] over p < inner, with p ascending in one sum: both kernels give the same bits.
// `a_step` and `b_step` are the distances in memory from one row to the next and from one column to the next, as the
// product reads them: a matrix that is used transposed has them exchanged.

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define VECTOR CONCAT(REAL, WIDTH)
#define LOAD CONCAT(vload, WIDTH)
#define STORE CONCAT(vstore, WIDTH)
#define PLAIN_ROWS 8  // so many sums at a time hide the time that each takes

// For CPUs: a work-item makes PLAIN_ROWS rows by WIDTH columns in registers, and no item waits for another. Dimension 0
// counts blocks of rows, 1 blocks of columns, 2 matrices: neighbours read the same columns of b, which stay in the cache.
// b's columns lie side by side (b_step.y is 1): the host transposes b first where they do not.
kernel void product_plain(global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape a_shape,
                          Shape b_shape, long2 a_step, long2 b_step, long inner) {
  const long first_row = (long)get_global_id(0) * PLAIN_ROWS, j = (long)get_global_id(1) * WIDTH;
  const long z = get_global_id(2), rows = min((long)PLAIN_ROWS, ROWS(onto) - first_row);
  a += matrix_for(z, onto, a_shape);
  b += matrix_for(z, onto, b_shape) + j;
  out += entry_of(z, first_row, j, onto);

  global const REAL* a_rows[PLAIN_ROWS];  // behind the last row stands the last row again
  for (int r = 0; r < PLAIN_ROWS; ++r) a_rows[r] = a + (first_row + min((long)r, rows - 1)) * a_step.x;

  if (j + WIDTH <= COLS(onto)) {
    VECTOR sums[PLAIN_ROWS];
    for (int r = 0; r < PLAIN_ROWS; ++r) sums[r] = 0;
    for (long p = 0; p < inner; ++p) {
      const VECTOR b_row = LOAD(0, b + p * b_step.x);
#pragma unroll
      for (int r = 0; r < PLAIN_ROWS; ++r) sums[r] = PLUS_PRODUCT(sums[r], (VECTOR)(a_rows[r][p * a_step.y]), b_row);
    }
    for (int r = 0; r < rows; ++r) STORE(sums[r], 0, out + r * COLS(onto));
  } else {
    for (int r = 0; r < rows; ++r)
      for (long c = 0; c < COLS(onto) - j; ++c) {
        REAL sum = 0;
        for (long p = 0; p < inner; ++p) sum = PLUS_PRODUCT(sum, a_rows[r][p * a_step.y], b[p * b_step.x + c]);
        out[r * COLS(onto) + c] = sum;
      }
  }
}

// For GPUs: a group of SIDE×SIDE work-items makes TILE×TILE entries. It brings DEPTH columns of a and DEPTH rows of b into
// local memory, all items together, and then each adds to its EACH×EACH sums in registers; and so on along p.
// Dimension 0 counts columns of tiles, 1 rows of tiles (SIDE items for each), 2 matrices.
#ifdef TILED
#define SIDE 16
#define EACH 4
#define TILE (SIDE * EACH)
#define DEPTH 16

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void product_tiled(
    global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape a_shape, Shape b_shape, long2 a_step,
    long2 b_step, long inner) {
  local REAL a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1];  // +1: columns fall into different banks
  const int x = get_local_id(0), y = get_local_id(1), item = y * SIDE + x;
  const long first_col = (long)get_group_id(0) * TILE, first_row = (long)get_group_id(1) * TILE, z = get_group_id(2);
  a += matrix_for(z, onto, a_shape);
  b += matrix_for(z, onto, b_shape);

  REAL sums[EACH][EACH];
#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int c = 0; c < EACH; ++c) sums[r][c] = 0;

  for (long first_p = 0; first_p < inner; first_p += DEPTH) {
    // Neighbouring items read neighbouring numbers. What stands outside is 0, which adds nothing.
    for (int e = item; e < TILE * DEPTH; e += SIDE * SIDE) {
      const int a_p = a_step.y == 1 ? e % DEPTH : e / TILE, i = a_step.y == 1 ? e / DEPTH : e % TILE;
      const bool a_inside = first_row + i < ROWS(onto) && first_p + a_p < inner;
      a_tile[a_p][i] = a_inside ? a[(first_row + i) * a_step.x + (first_p + a_p) * a_step.y] : 0;
      const int b_p = b_step.y == 1 ? e / TILE : e % DEPTH, j = b_step.y == 1 ? e % TILE : e / DEPTH;
      const bool b_inside = first_col + j < COLS(onto) && first_p + b_p < inner;
      b_tile[b_p][j] = b_inside ? b[(first_p + b_p) * b_step.x + (first_col + j) * b_step.y] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < DEPTH; ++p) {
      REAL a_column[EACH];
#pragma unroll
      for (int r = 0; r < EACH; ++r) a_column[r] = a_tile[p][y + r * SIDE];
#pragma unroll
      for (int c = 0; c < EACH; ++c) {
        const REAL b_number = b_tile[p][x + c * SIDE];
#pragma unroll
        for (int r = 0; r < EACH; ++r) sums[r][c] = PLUS_PRODUCT(sums[r][c], a_column[r], b_number);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int c = 0; c < EACH; ++c) {
      const long i = first_row + y + r * SIDE, j = first_col + x + c * SIDE;
      if (i < ROWS(onto) && j < COLS(onto)) out[entry_of(z, i, j, onto)] = sums[r][c];
    }
}
#endif

// out = aᵀ in each matrix; `shape` is a's. One row of work-items for each row of out.
kernel void transpose(global const REAL* a, global REAL* out, Shape shape) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  if (i >= COLS(shape) || j >= ROWS(shape)) return;
  out[(z * COLS(shape) + i) * ROWS(shape) + j] = a[entry_of(z, j, i, shape)];
}

// ── split and merge ─────────────────────────────────────────────────────────────────────────────────────────────────────
// Head `head`'s column c stands in column head·d + c of n×(h·d): a reshape and a swap of axes.

kernel void split(global const REAL* a, global REAL* out, Shape onto, Shape a_shape) {
  const long c = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long item = z / HEADS(onto), head = z % HEADS(onto);
  if (i >= ROWS(onto) || c >= COLS(onto)) return;
  out[entry_of(z, i, c, onto)] = a[entry_of(item, i, head * COLS(onto) + c, a_shape)];
}

kernel void merge(global const REAL* a, global REAL* out, Shape onto, Shape a_shape) {
  const long j = get_global_id(0), i = get_global_id(1), item = get_global_id(2);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  const long head = j / COLS(a_shape), c = j % COLS(a_shape);
  out[entry_of(item, i, j, onto)] = a[entry_of(item * HEADS(a_shape) + head, i, c, a_shape)];
}

// ── entry by entry ──────────────────────────────────────────────────────────────────────────────────────────────────────

// (x, y) → (x·cos − y·sin, x·sin + y·cos) for each pair of columns: (t, t + pairs), or (2t, 2t + 1) where `interleaved`. The
// columns behind the last pair stay. Cosines and sines are n×pairs; the host computed them in double. `way` is −1 for −angle.
kernel void rotate_pairs(global const REAL* a, global const REAL* cosines, global const REAL* sines, global REAL* out,
                         Shape onto, Shape a_shape, Shape angles, int interleaved, REAL way) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long pairs = COLS(angles), row = row_for(z, i, onto, a_shape), angle_row = row_for(z, i, onto, angles);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  if (j >= 2 * pairs) {
    out[entry_of(z, i, j, onto)] = a[row + j];
    return;
  }
  const long t = interleaved ? j / 2 : j % pairs;
  const bool is_second = interleaved ? j % 2 == 1 : j >= pairs;
  const REAL x = a[row + (interleaved ? 2 * t : t)], y = a[row + (interleaved ? 2 * t + 1 : t + pairs)];
  const REAL c = cosines[angle_row + t], s = way * sines[angle_row + t];
  out[entry_of(z, i, j, onto)] = is_second ? x * s + y * c : x * c - y * s;
}

// a ∘ b
kernel void multiply(global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape a_shape,
                     Shape b_shape) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape), b_row = row_for(z, i, onto, b_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  out[entry_of(z, i, j, onto)] = a[a_row + j] * number_for(j, b + b_row, b_shape);
}

// a + b. A sum of more terms is taken by one call for each, with `out` as its own first operand; so is a product's bias.
kernel void add(global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape a_shape, Shape b_shape) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape), b_row = row_for(z, i, onto, b_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  out[entry_of(z, i, j, onto)] = a[a_row + j] + number_for(j, b + b_row, b_shape);
}

// a − b
kernel void subtract(global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape a_shape,
                     Shape b_shape) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape), b_row = row_for(z, i, onto, b_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  out[entry_of(z, i, j, onto)] = a[a_row + j] - number_for(j, b + b_row, b_shape);
}

// Σ a, or with `weighted` Σ a ∘ b, over what `onto` lacks; a and b have the shape `from`.
kernel void sum(global const REAL* a, global const REAL* b, global REAL* out, Shape onto, Shape from, int weighted) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  const long items = BATCH(from) / BATCH(onto), heads = HEADS(from) / HEADS(onto), rows = ROWS(from) / ROWS(onto);
  const long cols = COLS(from) / COLS(onto), first_item = z / HEADS(onto) * items, first_head = z % HEADS(onto) * heads;
  REAL total = 0;
  for (long item = first_item; item < first_item + items; ++item)
    for (long head = first_head; head < first_head + heads; ++head)
      for (long row = i * rows; row < (i + 1) * rows; ++row) {
        const long first = entry_of(item * HEADS(from) + head, row, j * cols, from);
        for (long p = first; p < first + cols; ++p) total += weighted ? a[p] * b[p] : a[p];
      }
  out[entry_of(z, i, j, onto)] = total;
}

// cap·tanh(a/cap)
kernel void softcap(global const REAL* a, global REAL* out, Shape onto, Shape a_shape, REAL cap) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  out[entry_of(z, i, j, onto)] = cap * tanh(a[a_row + j] / cap);
}

// As src/core/op.hpp numbers them. Φ(x) is ½·erfc(−x/√2), which keeps its digits far below 0.
kernel void activation(global const REAL* a, global REAL* out, Shape onto, Shape a_shape, int which) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  const REAL x = a[a_row + j];
  REAL result = x;
  switch (which) {
    case 1: result = x < 0 ? 0 : x; break;
    case 2: result = x * ((REAL)0.5 * erfc(-x * (REAL)0.70710678118654752440)); break;
    case 3:
      result = (REAL)0.5 * x * (1 + tanh((REAL)0.79788456080286535588 * (x + (REAL)0.044715 * x * x * x)));
      break;
    case 4: result = x / (1 + exp(-x)); break;
  }
  out[entry_of(z, i, j, onto)] = result;
}

// g ∘ f′(x) for the activation, or where cap is above 0 for the soft cap; as src/compute/cpu_rows.hpp has it.
kernel void slope(global const REAL* g, global const REAL* x_values, global REAL* out, Shape onto, Shape g_shape,
                  Shape x_shape, int which, REAL cap) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long g_row = row_for(z, i, onto, g_shape), x_row = row_for(z, i, onto, x_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  const REAL x = x_values[x_row + j], k = (REAL)0.79788456080286535588;
  REAL steep = 1;
  if (cap > 0) {
    const REAL t = tanh(x / cap);
    steep = 1 - t * t;
  } else if (which == 1) {
    steep = x > 0 ? 1 : 0;
  } else if (which == 2) {
    steep = (REAL)0.5 * erfc(-x * (REAL)0.70710678118654752440) +
            x * (REAL)0.39894228040143267794 * exp((REAL)-0.5 * x * x);
  } else if (which == 3) {
    const REAL t = tanh(k * (x + (REAL)0.044715 * x * x * x));
    steep = (REAL)0.5 * (1 + t) + (REAL)0.5 * x * (1 - t * t) * (k * (1 + (REAL)0.134145 * x * x));
  } else if (which == 4) {
    const REAL s = 1 / (1 + exp(-x));
    steep = s * (1 + x * (1 - s));
  }
  out[entry_of(z, i, j, onto)] = g[g_row + j] * steep;
}

kernel void copy(global const REAL* a, global REAL* out, Shape onto, Shape a_shape) {
  const long j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
  const long a_row = row_for(z, i, onto, a_shape);
  if (i >= ROWS(onto) || j >= COLS(onto)) return;
  out[entry_of(z, i, j, onto)] = a[a_row + j];
}

// ── norm ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

// (x − mean)/√(variance + eps), or with `layer` 0 x/√(mean of x² + eps). A work-item makes a whole row: dimension 0 is 0.
kernel void norm(global const REAL* a, global REAL* out, Shape onto, Shape a_shape, REAL eps, int layer,
                 int sample_variance, int eps_outside) {
  const long i = get_global_id(1), z = get_global_id(2), cols = COLS(onto);
  const long a_row = row_for(z, i, onto, a_shape);
  if (i >= ROWS(onto) || get_global_id(0) > 0) return;
  REAL mean = 0, squares = 0;
  if (layer) {
    for (long j = 0; j < cols; ++j) mean += a[a_row + j];
    mean /= cols;
  }
  for (long j = 0; j < cols; ++j) squares += (a[a_row + j] - mean) * (a[a_row + j] - mean);
  const REAL variance = squares / (sample_variance ? cols - 1 : cols);
  const REAL root = eps_outside ? sqrt(variance) + eps : sqrt(variance + eps);
  for (long j = 0; j < cols; ++j) out[entry_of(z, i, j, onto)] = (a[a_row + j] - mean) / root;
}

// (h − mean of h − x̂·mean of h ∘ x̂) / root, x̂ the normalised x; with `layer` 0 without the mean of h. h may be out.
kernel void norm_slope(global const REAL* h, global const REAL* x, global REAL* out, Shape onto, Shape h_shape,
                       Shape x_shape, REAL eps, int layer) {
  const long i = get_global_id(1), z = get_global_id(2), cols = COLS(onto);
  if (i >= ROWS(onto) || get_global_id(0) > 0) return;
  h += row_for(z, i, onto, h_shape);
  x += row_for(z, i, onto, x_shape);
  REAL x_mean = 0, squares = 0, mean = 0, along = 0;
  if (layer) {
    for (long j = 0; j < cols; ++j) x_mean += x[j];
    x_mean /= cols;
  }
  for (long j = 0; j < cols; ++j) squares += (x[j] - x_mean) * (x[j] - x_mean);
  const REAL root = sqrt(squares / cols + eps);
  for (long j = 0; j < cols; ++j) {
    if (layer) mean += h[j];
    along += h[j] * ((x[j] - x_mean) / root);
  }
  mean /= cols;
  along /= cols;
  for (long j = 0; j < cols; ++j)
    out[entry_of(z, i, j, onto)] = (h[j] - mean - (x[j] - x_mean) / root * along) / root;
}

// ── softmax ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

// NaN where there is one.
REAL larger(REAL a, REAL b) {
  return b > a || b != b ? b : a;
}

// out[i, j] = e^(a[i, j] − max) / Σ e^(a[i, ·] − max). A row of −∞ has no key to attend to: zeros. NaN makes its row NaN.
// One group of GROUP work-items for each row of each matrix; item k takes the columns k, k + GROUP, …, and the items' shares
// are put together in halves: 0…31 take in 32…63, then 0…15 take in 16…31, until all is in place 0.
kernel void softmax(global const REAL* a, global REAL* out, Shape onto, Shape a_shape) {
  local REAL shares[GROUP];
  const int k = get_local_id(0);
  const long row = get_group_id(0), z = row / ROWS(onto), cols = COLS(onto);
  a += row_for(z, row % ROWS(onto), onto, a_shape);
  out += row * cols;

  REAL largest = -INFINITY;
  for (long j = k; j < cols; j += GROUP) largest = larger(largest, a[j]);
  shares[k] = largest;
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < half_size) shares[k] = larger(shares[k], shares[k + half_size]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  largest = shares[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool is_empty = largest == -INFINITY;

  REAL sum = 0;
  for (long j = k; j < cols; j += GROUP) {
    const REAL power = is_empty ? 0 : exp(a[j] - largest);
    out[j] = power;
    sum += power;
  }
  shares[k] = sum;
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < half_size) shares[k] += shares[k + half_size];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = shares[0];

  if (is_empty) return;
  for (long j = k; j < cols; j += GROUP) out[j] /= sum;
}
