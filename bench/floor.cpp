// What this machine allows: the steps of one attention layer in float32, every intermediate kept, with nothing around them.
// A yardstick: shapes are fixed, nothing is checked, and Eigen does the products.
//
//   mha_floor N [THREADS]    one line of JSON: median and least milliseconds of 15 rounds, with buffers kept
#include <sys/mman.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Matrix<float, 1, Eigen::Dynamic>;
using View = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

constexpr Eigen::Index d_model = 768, heads = 12, d_k = d_model / heads, block_rows = 128;
constexpr int warm_ups = 2, rounds = 15;

// On huge pages.
class Buffer {
 public:
  explicit Buffer(Eigen::Index count) {
    constexpr std::size_t page = std::size_t(2) << 20;
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + page - 1) / page * page;
    numbers_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
    madvise(numbers_.get(), bytes, MADV_HUGEPAGE);
  }
  View rows(Eigen::Index at, Eigen::Index count, Eigen::Index cols) const {
    return {numbers_.get() + at * cols, count, cols, Eigen::OuterStride<>(cols)};
  }

 private:
  struct Free {
    void operator()(float* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<float, Free> numbers_;
};

class Layer {
 public:
  explicit Layer(Eigen::Index tokens) : n(tokens) {}

  void run() {
    in_parts([this](Eigen::Index first, Eigen::Index count) {
      View part = QKV.rows(first, count, 3 * d_model);
      part.noalias() = X.middleRows(first, count) * W_QKV;
      part.rowwise() += b_QKV;
    });
    const Eigen::Index blocks = (n + block_rows - 1) / block_rows;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (Eigen::Index head = 0; head < heads; ++head)
      for (Eigen::Index block = 0; block < blocks; ++block) attend(head, block * block_rows);
    in_parts([this](Eigen::Index first, Eigen::Index count) {
      View part = Y.rows(first, count, d_model);
      part.noalias() = C.rows(first, count, d_model) * W_O;
      part.rowwise() += b_O;
    });
  }

 private:
  // Rows shared out among the threads, two parts for each.
  template <typename Work>
  void in_parts(Work work) const {
#if defined(_OPENMP)
    const Eigen::Index parts = 2 * omp_get_max_threads();
#else
    const Eigen::Index parts = 2;
#endif
#pragma omp parallel for schedule(dynamic)
    for (Eigen::Index part = 0; part < parts; ++part) {
      const Eigen::Index first = n * part / parts, last = n * (part + 1) / parts;
      work(first, last - first);
    }
  }

  // Scores, scaled, weights and the head's output for a block of rows, while it is in the cache.
  void attend(Eigen::Index head, Eigen::Index first) {
    const Eigen::Index rows = std::min(block_rows, n - first);
    const View qkv = QKV.rows(0, n, 3 * d_model);
    View S = scores.rows(head * n + first, rows, n), Z = scaled.rows(head * n + first, rows, n);
    View A = weights.rows(head * n + first, rows, n), out = C.rows(0, n, d_model);
    S.noalias() = qkv.block(first, head * d_k, rows, d_k) * qkv.block(0, d_model + head * d_k, n, d_k).transpose();
    for (Eigen::Index i = 0; i < rows; ++i) {
      Z.row(i) = S.row(i) * 0.125f;
      A.row(i) = (Z.row(i).array() - Z.row(i).maxCoeff()).exp().matrix();
      A.row(i) *= 1 / A.row(i).sum();
    }
    out.block(first, head * d_k, rows, d_k).noalias() = A * qkv.block(0, 2 * d_model + head * d_k, n, d_k);
  }

  const Eigen::Index n;
  const Matrix X = Matrix::Random(n, d_model), W_QKV = Matrix::Random(d_model, 3 * d_model) * 0.03f;
  const Matrix W_O = Matrix::Random(d_model, d_model) * 0.03f;
  const Row b_QKV = Row::Random(3 * d_model), b_O = Row::Random(d_model);
  Buffer QKV{n * 3 * d_model}, scores{heads * n * n}, scaled{heads * n * n}, weights{heads * n * n};
  Buffer C{n * d_model}, Y{n * d_model};
};

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
#if defined(_OPENMP)
  if (argc > 2) omp_set_num_threads(std::atoi(argv[2]));
#endif
  Eigen::setNbThreads(1);
  Layer layer(n);
  std::vector<double> ms;
  for (int round = -warm_ups; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    layer.run();
    if (round >= 0)
      ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  std::printf("{\"n\": %d, \"median\": %.3f, \"min\": %.3f}\n", n, ms[ms.size() / 2], ms[0]);
}
