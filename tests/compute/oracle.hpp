// Multi-head attention as the formula says it, in plain loops: shares nothing with the engine but the tensor type.
#pragma once

#include "folders.hpp"

#include <cmath>
#include <vector>

#include "core/tensor.hpp"

namespace mha::test {

// Wq, Wk, Wv, Wo with their bias rows; `mask` is batch×h×n×m numbers to add.
struct Layer {
  const Tensor &X, &X_kv, &Wq, &bq, &Wk, &bk, &Wv, &bv, &Wo, &bo, &mask;
  double scale;
};

inline Tensor oracle(const Layer& L) {
  const Index B = L.X.shape().batch, n = L.X.shape().rows, m = L.X_kv.shape().rows, h = L.Wq.shape().heads;
  const Index g = L.Wk.shape().heads, dk = L.Wq.shape().cols, dv = L.Wv.shape().cols, dout = L.Wo.shape().cols;
  const auto project = [](const Tensor& x, const Tensor& W, const Tensor& b, Index item, Index head, Index i, Index c) {
    double sum = b.at(0, head, 0, c);
    for (Index r = 0; r < W.shape().rows; ++r) sum += x.at(item, 0, i, r) * W.at(0, head, r, c);
    return sum;
  };
  Tensor Y({B, 1, n, dout});
  for (Index item = 0; item < B; ++item)
    for (Index i = 0; i < n; ++i) {
      for (Index o = 0; o < dout; ++o) Y.at(item, 0, i, o) = L.bo.at(0, 0, 0, o);
      for (Index head = 0; head < h; ++head) {
        const Index kv = head / (h / g);
        std::vector<double> e(static_cast<std::size_t>(m));
        double sum = 0;
        for (Index j = 0; j < m; ++j) {
          double s = 0;
          for (Index c = 0; c < dk; ++c)
            s += project(L.X, L.Wq, L.bq, item, head, i, c) * project(L.X_kv, L.Wk, L.bk, item, kv, j, c);
          sum += e[static_cast<std::size_t>(j)] = std::exp(s * L.scale + L.mask.at(item, head, i, j));
        }
        for (Index j = 0; j < m && sum > 0; ++j)
          for (Index c = 0; c < dv; ++c)
            for (Index o = 0; o < dout; ++o)
              Y.at(item, 0, i, o) += e[static_cast<std::size_t>(j)] / sum * project(L.X_kv, L.Wv, L.bv, item, kv, j, c) *
                                     L.Wo.at(0, 0, head * dv + c, o);
      }
    }
  return Y;
}

}  // namespace mha::test
