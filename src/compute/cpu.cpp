// The CPU backend: products by Eigen, every other step the plain loop of its formula.
#include <fmt/format.h>

#include <Eigen/Core>
#include <cassert>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cpu_softmax.hpp"
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
      if (value->stored())
        value->stored()->read_rows(0, value->size() / value->shape().cols, numbers->data());
      else
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
        if (only_block && schedule_.is_taken(step.out))
          schedule_.taker->take_rows(step.out, item, head, part.rows.first, part.rows.count(), result);
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
      case Op::relu: return relu(step, block, out);
      case Op::reshape: return reshape(step, block, out);
      case Op::pool: return pool(step, block, out);
    }
  }

  // out[i, j] becomes combine(out[i, j], b[i, j]), with one row or column of b serving all.
  template <typename Combine>
  void with_operand(ValueId id, const Step& step, const Block& block, T* out, Combine combine) {
    const Shape& shape = shape_of(id);
    const Index cols = shape_of(step.out).cols;
    const Index row_stride = shape.rows == 1 ? 0 : shape.cols, col_stride = shape.cols == 1 ? 0 : 1;
    const T* b = rows_of(id, step, block, block.first);
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < cols; ++j) out[i * cols + j] = combine(out[i * cols + j], b[i * row_stride + j * col_stride]);
  }

  // rows×k · k×cols → rows×cols; either operand may be stored transposed. Then a bias on each row.
  void product(const Step& step, const Block& block, T* out) {
    const Shape &left = shape_of(step.in[0]), &right = shape_of(step.in[1]);
    const View b(rows_of(step.in[1], step, block, 0), right.rows, right.cols);
    Eigen::Map<Matrix> result(out, block.count, shape_of(step.out).cols);
    if (step.first_transposed) {
      const View a(rows_of(step.in[0], step, block, 0), left.rows, left.cols);
      result.noalias() = a.middleCols(block.first, block.count).transpose() * b;
    } else {
      const View a(rows_of(step.in[0], step, block, block.first), block.count, left.cols);
      if (step.transposed)
        result.noalias() = a * b.transpose();
      else
        result.noalias() = a * b;
    }
    for (std::size_t term = 2; term < step.in.size(); ++term) with_operand(step.in[term], step, block, out, std::plus<T>());
  }

  // n×(h·d) → this head's n×d.
  void split(const Step& step, const Block& block, T* out) {
    const Shape &from = shape_of(step.in[0]), &to = shape_of(step.out);
    const T* a = slot_of(step.in[0]).data + (block.item * from.rows + block.first) * from.cols;
    for (Index c = 0; c < to.cols; ++c) {
      const Index column = column_of(step.arrangement, block.head, to.heads, c, to.cols);
      for (Index i = 0; i < block.count; ++i) out[i * to.cols + c] = a[i * from.cols + column];
    }
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
    copy(step, block, out);
    with_operand(step.in[1], step, block, out, std::multiplies<T>());
  }

  void softcap(const Step& step, const Block& block, T* out) {
    const T* a = rows_of(step.in[0], step, block, block.first);
    const T c = static_cast<T>(step.cap);
    for (Index i = 0; i < block.count * shape_of(step.out).cols; ++i) out[i] = c * std::tanh(a[i] / c);
  }

  void add(const Step& step, const Block& block, T* out) {
    copy(step, block, out);
    for (std::size_t term = 1; term < step.in.size(); ++term) with_operand(step.in[term], step, block, out, std::plus<T>());
  }

  void softmax(const Step& step, const Block& block, T* out) {
    if (!(step.softmax == Softmax{})) return other_softmax(step, block, out);
    const Index cols = shape_of(step.out).cols;
    const T* a = rows_of(step.in[0], step, block, block.first);
    for (Index i = 0; i < block.count; ++i) softmax_row(a + i * cols, cols, out + i * cols);
  }

  void other_softmax(const Step& step, const Block& block, T* out) {
    const Shape& shape = shape_of(step.out);
    const Index cols = shape.cols, size = shape.rows * cols;
    const T* a = rows_of(step.in[0], step, block, block.first) - block.first * cols;
    const T* first_head = a - block.head * size;
    for (Index i = block.first; i < block.first + block.count; ++i)
      for (Index j = 0; j < cols; ++j) {
        Slice<T> slice{a + i * cols, cols};
        if (step.softmax.over == Softmax::Over::column) slice = {a + j, shape.rows, cols};
        if (step.softmax.over == Softmax::Over::heads) slice = {first_head + i * cols + j, shape.heads, size};
        if (step.softmax.over == Softmax::Over::matrix) slice = {a, size};
        out[(i - block.first) * cols + j] = Normalised<T>(slice, step.softmax)(a[i * cols + j]);
      }
  }

  // The heads' n×d → n×(h·d).
  void merge(const Step& step, const Block& block, T* out) {
    const Shape& from = shape_of(step.in[0]);
    const Index width = shape_of(step.out).cols;
    for (Index head = 0; head < from.heads; ++head) {
      const T* a = slot_of(step.in[0]).data + ((block.item * from.heads + head) * from.rows + block.first) * from.cols;
      for (Index c = 0; c < from.cols; ++c) {
        const Index column = column_of(step.arrangement, head, from.heads, c, from.cols);
        for (Index i = 0; i < block.count; ++i) out[i * width + column] = a[i * from.cols + c];
      }
    }
  }

  void copy(const Step& step, const Block& block, T* out) {
    std::copy_n(rows_of(step.in[0], step, block, block.first), block.count * shape_of(step.out).cols, out);
  }

  void relu(const Step& step, const Block& block, T* out) {
    copy(step, block, out);
    for (Index i = 0; i < block.count * shape_of(step.out).cols; ++i) out[i] = std::max(out[i], T(0));
  }

  // All numbers of an item in their order in memory, cut into rows of another length.
  void reshape(const Step& step, const Block& block, T* out) {
    const Shape& to = shape_of(step.out);
    const T* a = slot_of(step.in[0]).data + block.item * to.heads * to.rows * to.cols;
    std::copy_n(a + (block.head * to.rows + block.first) * to.cols, block.count * to.cols, out);
  }

  // h matrices n×d → their mean, sum or maximum, entry by entry.
  void pool(const Step& step, const Block& block, T* out) {
    const Shape& from = shape_of(step.in[0]);
    const Index size = from.rows * from.cols, count = block.count * from.cols;
    const T* a = slot_of(step.in[0]).data + block.item * from.heads * size + block.first * from.cols;
    std::copy_n(a, count, out);
    for (Index head = 1; head < from.heads; ++head)
      for (Index i = 0; i < count; ++i) {
        const T next = a[head * size + i];
        out[i] = step.pooling == Pooling::maximum ? std::max(out[i], next) : out[i] + next;
      }
    if (step.pooling == Pooling::mean)
      for (Index i = 0; i < count; ++i) out[i] /= static_cast<T>(from.heads);
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
