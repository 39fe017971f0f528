// The CPU backend: products by Eigen, every other step the plain loop of its formula.
#include <fmt/format.h>

#include <Eigen/Core>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "compute/backend.hpp"
#include "core/error.hpp"

namespace mha {
namespace {

// Shapes in the comments: rows is the number of rows of the part, n, m, d as in the step's formula.
template <typename T>
class CpuBackend : public Backend {
 public:
  CpuBackend(const Plan& plan, const Schedule& schedule) : plan_(plan), schedule_(schedule), slots_(plan.values.size()) {}

  void set(ValueId id, std::shared_ptr<const Tensor> value) override {
    Slot& slot = slot_of(id);
    if constexpr (std::is_same_v<T, double>) {
      slot.data = value->data();
      slot.owner = std::move(value);
    } else {
      auto numbers = std::make_shared<std::vector<T>>(static_cast<std::size_t>(value->size()));
      for (Index i = 0; i < value->size(); ++i) (*numbers)[static_cast<std::size_t>(i)] = narrowed(value->data()[i], id);
      slot.data = numbers->data();
      slot.owner = std::move(numbers);
    }
  }

  std::shared_ptr<const Tensor> get(ValueId id) override {
    const Slot& slot = slot_of(id);
    assert(slot.data != nullptr && !schedule_.only_blocks[static_cast<std::size_t>(id)]);
    if constexpr (std::is_same_v<T, double>) {
      return std::static_pointer_cast<const Tensor>(slot.owner);
    } else {
      auto tensor = std::make_shared<Tensor>(plan_.value(id).shape);
      std::copy_n(slot.data, tensor->size(), tensor->data());
      return tensor;
    }
  }

  void drop(ValueId id) override { slot_of(id) = {}; }

  void run(const Step& step, const Part& part) override {
    T* result = allocated(step.out, part);
    const Shape& shape = plan_.value(step.out).shape;
    const bool only_block = schedule_.only_blocks[static_cast<std::size_t>(step.out)];
    for (Index item = part.batch.first; item < part.batch.last; ++item)
      for (Index head = part.heads.first; head < part.heads.last; ++head) {
        const Index skipped = only_block ? 0 : ((item * shape.heads + head) * shape.rows + part.rows.first) * shape.cols;
        run_rows(step, {item, head, part.rows.first, part.rows.count()}, result + skipped);
      }
  }

 private:
  struct Slot {
    std::shared_ptr<const void> owner;
    const T* data = nullptr;
  };
  // Rows first … first + count of one matrix of the result.
  struct Block {
    Index item, head, first, count;
  };
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using View = Eigen::Map<const Matrix>;

  // A finite number never becomes an infinite one unseen.
  T narrowed(double number, ValueId id) const {
    const T result = static_cast<T>(number);
    if (std::isfinite(number) && !std::isfinite(result))
      throw Error(fmt::format("{} holds {}, which {} cannot hold; compute with --dtype f64", plan_.value(id).symbol, number,
                              dtype_name(Dtype::f32)));
    return result;
  }

  Slot& slot_of(ValueId id) { return slots_[static_cast<std::size_t>(id)]; }
  const Shape& shape_of(ValueId id) const { return plan_.value(id).shape; }

  // Where the step writes: the whole value, made at its first part, or one block.
  T* allocated(ValueId id, const Part& part) {
    Slot& slot = slot_of(id);
    if (slot.data == nullptr) {
      Shape shape = shape_of(id);
      if (schedule_.only_blocks[static_cast<std::size_t>(id)]) shape = {1, 1, part.rows.count(), shape.cols};
      if constexpr (std::is_same_v<T, double>) {
        auto tensor = std::make_shared<Tensor>(shape);
        slot.data = tensor->data();
        slot.owner = std::move(tensor);
      } else {
        auto numbers = std::make_shared<std::vector<T>>(static_cast<std::size_t>(shape.size()));
        slot.data = numbers->data();
        slot.owner = std::move(numbers);
      }
    }
    return const_cast<T*>(slot.data);  // made just above or at an earlier part, so not one of set()'s
  }

  // Row `first` of the operand's matrix that serves this item and head of the result.
  const T* rows_of(ValueId id, const Step& step, const Block& block, Index first) {
    const T* data = slot_of(id).data;
    if (schedule_.only_blocks[static_cast<std::size_t>(id)]) return data;
    const Shape& shape = shape_of(id);
    const Shape& onto = shape_of(step.out);
    const Index item = broadcast(block.item, shape.batch, onto.batch);
    const Index head = broadcast(block.head, shape.heads, onto.heads);
    return data + ((item * shape.heads + head) * shape.rows + (shape.rows == 1 ? 0 : first)) * shape.cols;
  }

  void run_rows(const Step& step, const Block& block, T* out) {
    switch (step.op) {
      case Op::product: return product(step, block, out);
      case Op::split: return split(step, block, out);
      case Op::rotate: return rotate(step, block, out);
      case Op::multiply: return multiply(step, block, out);
      case Op::softcap: return softcap(step, block, out);
      case Op::add: return add(step, block, out);
      case Op::softmax: return softmax(step, block, out);
      case Op::merge: return merge(step, block, out);
      case Op::copy: return copy(step, block, out);
    }
  }

  // rows×k · k×cols → rows×cols, or rows×k · (cols×k)ᵀ; then the bias on each row.
  void product(const Step& step, const Block& block, T* out) {
    const Shape& right = shape_of(step.in[1]);
    const Index k = shape_of(step.in[0]).cols, cols = shape_of(step.out).cols;
    const View a(rows_of(step.in[0], step, block, block.first), block.count, k);
    const View b(rows_of(step.in[1], step, block, 0), right.rows, right.cols);
    Eigen::Map<Matrix> result(out, block.count, cols);
    if (step.transposed)
      result.noalias() = a * b.transpose();
    else
      result.noalias() = a * b;
    if (step.in.size() > 2) result.rowwise() += View(rows_of(step.in[2], step, block, 0), 1, cols).row(0);
  }

  // Columns head·d … head·d + d − 1 of n×(h·d).
  void split(const Step& step, const Block& block, T* out) {
    const Index d = shape_of(step.out).cols, width = shape_of(step.in[0]).cols;
    const T* a = slot_of(step.in[0]).data + (block.item * shape_of(step.in[0]).rows + block.first) * width;
    for (Index i = 0; i < block.count; ++i) std::copy_n(a + i * width + block.head * d, d, out + i * d);
  }

  // (a, b) → (a·cos − b·sin, a·sin + b·cos) for each pair of columns; the columns behind the last pair stay.
  void rotate(const Step& step, const Block& block, T* out) {
    const Index d = shape_of(step.out).cols, pairs = shape_of(step.in[1]).cols;
    const T* a = rows_of(step.in[0], step, block, block.first);
    const T* cosines = rows_of(step.in[1], step, block, block.first);
    const T* sines = rows_of(step.in[2], step, block, block.first);
    std::copy_n(a, block.count * d, out);
    for (Index i = 0; i < block.count; ++i)
      for (Index t = 0; t < pairs; ++t) {
        const Columns pair = columns_of_pair(step.pairing, t, pairs);
        const T x = a[i * d + pair.first], y = a[i * d + pair.second];
        const T c = cosines[i * pairs + t], s = sines[i * pairs + t];
        out[i * d + pair.first] = x * c - y * s;
        out[i * d + pair.second] = x * s + y * c;
      }
  }

  void multiply(const Step& step, const Block& block, T* out) {
    const T* a = rows_of(step.in[0], step, block, block.first);
    const T factor = *slot_of(step.in[1]).data;
    for (Index i = 0; i < block.count * shape_of(step.out).cols; ++i) out[i] = a[i] * factor;
  }

  void softcap(const Step& step, const Block& block, T* out) {
    const T* a = rows_of(step.in[0], step, block, block.first);
    const T c = static_cast<T>(step.cap);
    for (Index i = 0; i < block.count * shape_of(step.out).cols; ++i) out[i] = c * std::tanh(a[i] / c);
  }

  void add(const Step& step, const Block& block, T* out) {
    const Index cols = shape_of(step.out).cols;
    std::copy_n(rows_of(step.in[0], step, block, block.first), block.count * cols, out);
    for (std::size_t term = 1; term < step.in.size(); ++term) {
      const Index stride = shape_of(step.in[term]).rows == 1 ? 0 : cols;
      const T* b = rows_of(step.in[term], step, block, block.first);
      for (Index i = 0; i < block.count; ++i)
        for (Index j = 0; j < cols; ++j) out[i * cols + j] += b[i * stride + j];
    }
  }

  // e^(z − max) / Σ e^(z − max) in each row. A row of −∞ has no key to attend to: zeros. NaN makes its row NaN.
  void softmax(const Step& step, const Block& block, T* out) {
    const Index cols = shape_of(step.out).cols;
    const T* a = rows_of(step.in[0], step, block, block.first);
    for (Index i = 0; i < block.count; ++i, a += cols, out += cols) {
      T maximum = a[0];
      for (Index j = 1; j < cols; ++j)
        if (a[j] > maximum || std::isnan(a[j])) maximum = a[j];
      if (maximum == -std::numeric_limits<T>::infinity()) {
        std::fill_n(out, cols, T(0));
        continue;
      }
      T sum = 0;
      for (Index j = 0; j < cols; ++j) sum += out[j] = std::exp(a[j] - maximum);
      for (Index j = 0; j < cols; ++j) out[j] /= sum;
    }
  }

  // Head i's d columns go to columns i·d … i·d + d − 1.
  void merge(const Step& step, const Block& block, T* out) {
    const Shape& from = shape_of(step.in[0]);
    const Index width = shape_of(step.out).cols;
    for (Index head = 0; head < from.heads; ++head) {
      const T* a = slot_of(step.in[0]).data + ((block.item * from.heads + head) * from.rows + block.first) * from.cols;
      for (Index i = 0; i < block.count; ++i) std::copy_n(a + i * from.cols, from.cols, out + i * width + head * from.cols);
    }
  }

  void copy(const Step& step, const Block& block, T* out) {
    std::copy_n(rows_of(step.in[0], step, block, block.first), block.count * shape_of(step.out).cols, out);
  }

  const Plan& plan_;
  const Schedule& schedule_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const Plan& plan, const Schedule& schedule, Dtype dtype) {
  if (dtype == Dtype::f32) return std::make_unique<CpuBackend<float>>(plan, schedule);
  return std::make_unique<CpuBackend<double>>(plan, schedule);
}

}  // namespace mha
