// The CPU backend: every op the plain loop of its formula, and a faster kernel for those that take the time of large
// problems.
#include <numeric>

#include "compute/cpu_rows.hpp"
#include "compute/cpu_values.hpp"
#include "compute/cpu_variants.hpp"
#include "core/op_rules.hpp"

namespace mha::compute {
namespace {

// Shapes in the comments: rows is the number of rows of the part, n, m, d as in the step's formula.
template <typename T>
class CpuBackend : public Backend {
 public:
  CpuBackend(const Plan& plan, const Schedule& schedule, const Kernels<T>* kernels)
      : plan_(plan), schedule_(schedule), kernels_(kernels), values_(plan, schedule), packed_(plan.values.size()) {}

  void set(ValueId id, std::shared_ptr<const Tensor> value) override {
    forget_packed(id);
    values_.set(id, value);
  }

  std::shared_ptr<const Tensor> get(ValueId id) override { return values_.get(id); }

  void drop(ValueId id) override {
    forget_packed(id);
    packed_[static_cast<std::size_t>(id)] = {};
    values_.drop(id);
  }

  bool prepare(const Step& step, Workers& workers) override {
    values_.expect_workers(workers.count());
    packed_rows_.resize(std::max(packed_rows_.size(), static_cast<std::size_t>(workers.count())));
    if (values_.is_view(step)) {
      values_.place_view(step);
      return false;
    }
    if (!values_.is_only_blocks(step.out)) values_.make_room(step.out);
    if (step.op == Op::merge) return !values_.is_in_place(step);
    if (packs(step) && !(packed_of(step).ready && plan_.value(step.in[1]).constant)) {
      pack(step, workers);
      packed_of(step).ready = true;
    }
    return true;
  }

  void run(const Step& step, const Part& part) override {
    if (values_.is_view(step)) return values_.place_view(step);
    if (packs(step) && !packed_of(step).ready) {
      Workers alone(1);
      pack(step, alone);
    }
    for (Index item = part.batch.first; item < part.batch.last; ++item)
      for (Index head = part.heads.first; head < part.heads.last; ++head) {
        run_rows(step, {item, head, part.rows.first, part.rows.count(), part.worker});
        if (values_.is_only_blocks(step.out)) values_.hand_over(step.out, item, head, part);
      }
  }

 private:
  // Rows first … first + count of one matrix of the result.
  struct Block {
    Index item, head, first, count;
    int worker;
  };
  // The second operand of a product in the order of the kernels, one matrix behind the other.
  struct Packed {
    std::shared_ptr<T> numbers;
    Index matrix = 0;    // numbers of one
    bool ready = false;  // prepared, so that run() need not
  };

  const Shape& shape_of(ValueId id) const { return plan_.value(id).shape; }
  Packed& packed_of(const Step& step) { return packed_[static_cast<std::size_t>(step.out)]; }

  void forget_packed(ValueId id) {
    for (const Step& step : plan_.steps)
      if (step.op == Op::product && step.in[1] == id) packed_of(step) = {};
  }

  // Its sums over rows grow block by block, so `block` is one of its operands.
  bool grows(const Step& step) const { return schedule_.grows[static_cast<std::size_t>(step.out)]; }

  bool packs(const Step& step) const { return kernels_ != nullptr && step.op == Op::product && !grows(step); }

  void pack(const Step& step, Workers& workers) {
    const Shape& b = shape_of(step.in[1]);
    const Index inner = step.transposed ? b.cols : b.rows, cols = step.transposed ? b.rows : b.cols;
    Packed& packed = packed_of(step);
    packed.matrix = kernels_->packed_size(inner, cols);
    if (!packed.numbers) packed.numbers = make_buffer<T>(b.batch * b.heads * packed.matrix);
    const Index pieces = (cols + packed_together - 1) / packed_together;
    workers.each(b.batch * b.heads * pieces, [&](Index piece, int) {
      const Index matrix = piece / pieces, first = piece % pieces * packed_together;
      const Rows<const T> rows = values_.rows(step.in[1], matrix / b.heads, matrix % b.heads, 0, 0);
      kernels_->pack({rows.data, rows.stride, step.transposed, inner, cols, first, std::min(first + packed_together, cols),
                      packed.numbers.get() + matrix * packed.matrix});
    });
  }

  // Row `first` and the following of the operand's matrix that serves this item and head of the result.
  Rows<const T> operand(std::size_t place, const Step& step, const Block& block, Index first) const {
    const Shape &shape = shape_of(step.in[place]), &onto = shape_of(step.out);
    return values_.rows(step.in[place], broadcast(block.item, shape.batch, onto.batch),
                        broadcast(block.head, shape.heads, onto.heads), first, block.worker);
  }
  Rows<const T> operand(std::size_t place, const Step& step, const Block& block) const {
    return operand(place, step, block, block.first);
  }
  // The same rows of a term, which may be a mask that exists only as rows.
  Rows<const T> term(std::size_t place, const Step& step, const Block& block) {
    const Shape &shape = shape_of(step.in[place]), &onto = shape_of(step.out);
    return values_.rows(step.in[place], broadcast(block.item, shape.batch, onto.batch),
                        broadcast(block.head, shape.heads, onto.heads), block.first, block.count, block.worker);
  }

  void run_rows(const Step& step, const Block& block) {
    if (grows(step))
      return add_product(step, block, values_.rows_to_write(step.out, block.item, block.head, 0, block.worker));
    const Rows<T> out = values_.rows_to_write(step.out, block.item, block.head, block.first, block.worker);
    switch (step.op) {
      case Op::product: return product(step, block, out);
      case Op::rotate: return rotate(step, block, out);
      case Op::multiply: return multiply(step, block, out);
      case Op::softcap: return softcap(step, block, out);
      case Op::add: return add(step, block, out);
      case Op::softmax: return softmax(step, block, out);
      case Op::copy: return copy(step, block, out);
      case Op::norm: return norm(step, block, out);
      case Op::activation: return activation(step, block, out);
      case Op::difference: return difference(step, block, out);
      case Op::slope: return slope(step, block, out);
      case Op::norm_slope: return norm_slope(step, block, out);
      case Op::sum: return sum(step, block, out);
      case Op::split:
      case Op::merge:
      case Op::reshape: return moved(step, block, out);
      case Op::pool: return pool(step, block, out);
    }
  }

  // out[i, j] becomes combine(a[i, j], b[i, j]), with one row or column of b serving all.
  template <typename Combine>
  void combine_rows(Rows<const T> a, std::size_t place, const Step& step, const Block& block, Rows<T> out,
                    Combine combine) {
    const Index cols = shape_of(step.out).cols, col_stride = shape_of(step.in[place]).cols == 1 ? 0 : 1;
    const Rows<const T> b = term(place, step, block);
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < cols; ++j) out[i][j] = combine(a[i][j], b[i][j * col_stride]);
  }

  static Rows<const T> read(Rows<T> rows) { return {rows.data, rows.stride}; }

  // rows×k · k×cols → rows×cols; either operand may be stored transposed. Then a bias on each row.
  void product(const Step& step, const Block& block, Rows<T> out) {
    if (packs(step)) return packed_product(step, block, out);
    const Shape& left = shape_of(step.in[0]);
    const Index cols = shape_of(step.out).cols, inner = step.first_transposed ? left.rows : left.cols;
    const Rows<const T> a = operand(0, step, block, step.first_transposed ? 0 : block.first),
                        b = operand(1, step, block, 0);
    for (Index i = 0; i < block.count; ++i) {
      std::fill_n(out[i], cols, T(0));
      for (Index k = 0; k < inner; ++k) {
        const T factor = step.first_transposed ? a[k][block.first + i] : a[i][k];
        for (Index j = 0; j < cols; ++j) out[i][j] += factor * (step.transposed ? b[j][k] : b[k][j]);
      }
    }
    for (std::size_t place = 2; place < step.in.size(); ++place)
      combine_rows(read(out), place, step, block, out, std::plus<T>());
  }

  void packed_product(const Step& step, const Block& block, Rows<T> out) {
    const Shape &right = shape_of(step.in[1]), &result = shape_of(step.out);
    const Index item = broadcast(block.item, right.batch, result.batch),
                head = broadcast(block.head, right.heads, result.heads);
    const Rows<const T> a = operand(0, step, block, step.first_transposed ? 0 : block.first);
    const Packed& packed = packed_of(step);
    const T* bias = nullptr;
    std::size_t place = 2;
    if (step.in.size() > 2 && shape_of(step.in[2]).rows == 1 && shape_of(step.in[2]).cols == result.cols)
      bias = operand(place++, step, block)[0];
    const bool turned = step.first_transposed;
    kernels_->product({a.data + (turned ? block.first : 0), turned ? 1 : a.stride, turned ? a.stride : 1,
                       packed.numbers.get() + (item * right.heads + head) * packed.matrix, out.data, out.stride,
                       block.count, turned ? shape_of(step.in[0]).rows : shape_of(step.in[0]).cols, result.cols, bias});
    for (; place < step.in.size(); ++place) combine_rows(read(out), place, step, block, out, std::plus<T>());
  }

  // out = aᵀ·b, of which this block of rows of a and of b is at hand: it is added to those before.
  void add_product(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block), b = operand(1, step, block);
    const Index rows = shape_of(step.in[0]).cols, cols = shape_of(step.out).cols;
    if (kernels_ != nullptr) {
      std::vector<T>& packed = packed_rows_[static_cast<std::size_t>(block.worker)];
      packed.resize(static_cast<std::size_t>(kernels_->packed_size(block.count, cols)));
      kernels_->pack({b.data, b.stride, false, block.count, cols, 0, cols, packed.data()});
      return kernels_->product(
          {a.data, 1, a.stride, packed.data(), out.data, out.stride, rows, block.count, cols, nullptr, block.first > 0});
    }
    for (Index i = 0; i < rows; ++i) {
      if (block.first == 0) std::fill_n(out[i], cols, T(0));
      for (Index k = 0; k < block.count; ++k)
        for (Index j = 0; j < cols; ++j) out[i][j] += a[k][i] * b[k][j];
    }
  }

  // (a, b) → (a·cos − b·sin, a·sin + b·cos) for each pair of columns, or by −angle; the columns behind the last pair stay.
  void rotate(const Step& step, const Block& block, Rows<T> out) {
    const Index pairs = shape_of(step.in[1]).cols;
    const Rows<const T> a = operand(0, step, block), cosines = operand(1, step, block), sines = operand(2, step, block);
    copy(step, block, out);
    for (Index i = 0; i < block.count; ++i)
      for (Index t = 0; t < pairs; ++t) {
        const Columns pair = columns_of_pair(step.pairing, t, pairs);
        const T x = a[i][pair.first], y = a[i][pair.second], c = cosines[i][t];
        const T s = step.transposed ? -sines[i][t] : sines[i][t];
        out[i][pair.first] = x * c - y * s;
        out[i][pair.second] = x * s + y * c;
      }
  }

  void multiply(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block);
    const Shape& factor = shape_of(step.in[1]);
    if (kernels_ == nullptr || factor.rows * factor.cols != 1)
      return combine_rows(a, 1, step, block, out, std::multiplies<T>());
    const T number = operand(1, step, block)[0][0];
    for (Index i = 0; i < block.count; ++i) kernels_->multiply(a[i], number, shape_of(step.out).cols, out[i]);
  }

  void softcap(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block);
    const T c = static_cast<T>(step.cap);
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < shape_of(step.out).cols; ++j) out[i][j] = c * std::tanh(a[i][j] / c);
  }

  void add(const Step& step, const Block& block, Rows<T> out) {
    const Index cols = shape_of(step.out).cols;
    Rows<const T> sum = operand(0, step, block);
    for (std::size_t place = 1; place < step.in.size(); ++place, sum = read(out)) {
      if (kernels_ == nullptr || shape_of(step.in[place]).cols != cols) {
        combine_rows(sum, place, step, block, out, std::plus<T>());
        continue;
      }
      const Rows<const T> b = term(place, step, block);
      for (Index i = 0; i < block.count; ++i) kernels_->add(sum[i], b[i], cols, out[i]);
    }
  }

  void softmax(const Step& step, const Block& block, Rows<T> out) {
    if (!(step.softmax == Softmax{})) return other_softmax(step, block, out);
    const Rows<const T> a = operand(0, step, block);
    const auto of_row = kernels_ != nullptr ? kernels_->softmax : softmax_row<T>;
    for (Index i = 0; i < block.count; ++i) of_row(a[i], shape_of(step.out).cols, out[i]);
  }

  // What is normalised together is summed once: a matrix, a row, a column; only over the heads or the items each entry has
  // its own sum.
  void other_softmax(const Step& step, const Block& block, Rows<T> out) {
    const Index cols = shape_of(step.out).cols;
    const Rows<const T> a = operand(0, step, block);
    const bool by_column = step.softmax.over == Softmax::Over::column;
    std::vector<Normalised<T>> sums;
    for (Index j = 0; j < cols && by_column && block.count > 0; ++j)
      sums.emplace_back(normalised_together(step, block, 0, j), step.softmax);
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < cols; ++j) {
        const bool again = step.softmax.over == Softmax::Over::heads || step.softmax.over == Softmax::Over::items ||
                           (j == 0 && (step.softmax.over == Softmax::Over::row || (!by_column && i == 0)));
        if (again) {
          sums.clear();
          sums.emplace_back(normalised_together(step, block, i, j), step.softmax);
        }
        out[i][j] = sums[by_column ? static_cast<std::size_t>(j) : 0](a[i][j]);
      }
  }

  // The numbers that entry i, j of the block is normalised with.
  Slice<T> normalised_together(const Step& step, const Block& block, Index i, Index j) const {
    const Shape& shape = shape_of(step.in[0]);
    const auto matrix = [&](Index head) { return values_.rows(step.in[0], block.item, head, 0, block.worker); };
    switch (step.softmax.over) {
      case Softmax::Over::row: return {operand(0, step, block)[i], shape.cols};
      case Softmax::Over::column: return {matrix(block.head)[0] + j, shape.rows, matrix(block.head).stride};
      case Softmax::Over::heads: {
        const T* first = matrix(0)[block.first + i] + j;
        return {first, shape.heads, shape.heads > 1 ? matrix(1).data - matrix(0).data : 0};
      }
      case Softmax::Over::matrix:
        assert(matrix(block.head).stride == shape.cols || shape.rows == 1);
        return {matrix(block.head).data, shape.rows * shape.cols};
      case Softmax::Over::items: {
        const auto of_item = [&](Index item) { return values_.rows(step.in[0], item, block.head, 0, block.worker); };
        const T* first = of_item(0)[block.first + i] + j;
        return {first, shape.batch, shape.batch > 1 ? of_item(1).data - of_item(0).data : 0};
      }
    }
    return {nullptr, 0};
  }

  // Entries in other places: a split or a merge that is no view, and a reshape.
  void moved(const Step& step, const Block& block, Rows<T> out) {
    if (step.op == Op::merge && values_.is_in_place(step)) return;
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < shape_of(step.out).cols; ++j)
        for_each_term(plan_, step, {block.item, block.head, block.first + i, j}, [&](const Term& term) {
          const Entry& from = term.begin()->at;
          out[i][j] = values_.rows(step.in[0], from.item, from.head, from.row, block.worker)[0][from.column];
        });
  }

  void copy(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block);
    for (Index i = 0; i < block.count; ++i) std::copy_n(a[i], shape_of(step.out).cols, out[i]);
  }

  // Each row, or each column, by its own mean and variance; then γ and β.
  void norm(const Step& step, const Block& block, Rows<T> out) {
    const Shape& from = shape_of(step.in[0]);
    const Rows<const T> a = operand(0, step, block), matrix = operand(0, step, block, 0);
    for (Index i = 0; i < block.count; ++i)
      if (step.norm.by_column)
        for (Index j = 0; j < from.cols; ++j)
          out[i][j] = Standard<T>(Slice<T>{matrix[0] + j, from.rows, matrix.stride}, step.norm)(a[i][j]);
      else
        normalise_row(Slice<T>{a[i], from.cols}, step.norm, out[i]);
    if (step.in.size() > 1) combine_rows(read(out), 1, step, block, out, std::multiplies<T>());
    if (step.in.size() > 2) combine_rows(read(out), 2, step, block, out, std::plus<T>());
  }

  void activation(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block);
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < shape_of(step.out).cols; ++j) out[i][j] = activated(step.activation, a[i][j]);
    if (step.in.size() > 1) combine_rows(read(out), 1, step, block, out, std::multiplies<T>());
  }

  void difference(const Step& step, const Block& block, Rows<T> out) {
    if (step.in.size() > 2 && shape_of(step.in[1]).cols < shape_of(step.in[2]).cols) return take_off(step, block, out);
    combine_rows(operand(0, step, block), 1, step, block, out, std::minus<T>());
    // What is hidden is 0, not −0.
    if (step.in.size() > 2) combine_rows(read(out), 2, step, block, out, [](T a, T b) { return a * b + T(0); });
  }

  // A ∘ (dA − r), by r as it was before it became a float: where A is nearly 1, its rounding would be all that is left.
  void take_off(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> dA = operand(0, step, block), r = operand(1, step, block), A = operand(2, step, block);
    const Index cols = shape_of(step.out).cols;
    for (Index i = 0; i < block.count; ++i) {
      const double sum = dot(A[i], dA[i], cols);
      const double exact = static_cast<T>(sum) == r[i][0] ? sum : r[i][0];  // or another number: rounded by hand
      (kernels_ != nullptr ? kernels_->take_off : take_off_row<T>)(A[i], dA[i], exact, cols, out[i]);
    }
  }

  double dot(const T* a, const T* b, Index count) const {
    return (kernels_ != nullptr ? kernels_->dot : dot_of_rows<T>)(a, b, count);
  }

  void slope(const Step& step, const Block& block, Rows<T> out) {
    const T cap = static_cast<T>(step.cap);
    combine_rows(operand(0, step, block), 1, step, block, out, [&](T g, T x) {
      if (step.cap == 0) return g * steepness(step.activation, x);
      const T squeezed = std::tanh(x / cap);
      return g * (1 - squeezed * squeezed);
    });
    if (step.in.size() > 2) combine_rows(read(out), 2, step, block, out, std::multiplies<T>());
  }

  void norm_slope(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> g = operand(0, step, block), x = operand(1, step, block);
    const T* const gamma = step.in.size() > 2 ? operand(2, step, block)[0] : nullptr;
    for (Index i = 0; i < block.count; ++i)
      norm_slope_row(g[i], gamma, Slice<T>{x[i], shape_of(step.out).cols}, step.norm, out[i]);
  }

  // Item after item, head after head, row after row, column after column; r takes off what A ∘ dA has in common, so that
  // what is left is small: floats are summed as doubles.
  void sum(const Step& step, const Block& block, Rows<T> out) {
    const Shape &from = shape_of(step.in[0]), &to = shape_of(step.out);
    if (is_row_wise(plan_, step) && to.cols == 1) return sum_of_rows(step, block, out);
    const Index items = from.batch / to.batch, heads = from.heads / to.heads, rows = from.rows / to.rows;
    std::vector<double> sums(static_cast<std::size_t>(block.count * to.cols), 0);
    for (Index item = block.item * items; item < (block.item + 1) * items; ++item)
      for (Index head = block.head * heads; head < (block.head + 1) * heads; ++head) {
        const auto matrix = [&](std::size_t place) { return values_.rows(step.in[place], item, head, 0, block.worker); };
        const Rows<const T> a = matrix(0), b = matrix(step.in.size() - 1);
        for (Index i = 0; i < block.count; ++i)
          for (Index row = (block.first + i) * rows; row < (block.first + i + 1) * rows; ++row)
            for (Index j = 0; j < from.cols; ++j)
              sums[static_cast<std::size_t>(i * to.cols + (to.cols == 1 ? 0 : j))] +=
                  step.in.size() > 1 ? double(a[row][j]) * double(b[row][j]) : double(a[row][j]);
      }
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < to.cols; ++j) out[i][j] = static_cast<T>(sums[static_cast<std::size_t>(i * to.cols + j)]);
  }

  void sum_of_rows(const Step& step, const Block& block, Rows<T> out) {
    const Rows<const T> a = operand(0, step, block), b = operand(step.in.size() - 1, step, block);
    const Index cols = shape_of(step.in[0]).cols;
    for (Index i = 0; i < block.count; ++i)
      out[i][0] = static_cast<T>(step.in.size() > 1 ? dot(a[i], b[i], cols) : std::accumulate(a[i], a[i] + cols, 0.0));
  }

  // h matrices n×d → their mean, sum or maximum, entry by entry.
  void pool(const Step& step, const Block& block, Rows<T> out) {
    const Shape& from = shape_of(step.in[0]);
    const auto of_head = [&](Index head) { return values_.rows(step.in[0], block.item, head, block.first, block.worker); };
    for (Index i = 0; i < block.count; ++i)
      for (Index j = 0; j < from.cols; ++j) {
        T result = of_head(0)[i][j];
        for (Index head = 1; head < from.heads; ++head) {
          const T next = of_head(head)[i][j];
          result = step.pooling == Pooling::maximum ? std::max(result, next) : result + next;
        }
        out[i][j] = step.pooling == Pooling::mean ? result / static_cast<T>(from.heads) : result;
      }
  }

  const Plan& plan_;
  const Schedule& schedule_;
  const Kernels<T>* kernels_;  // null: plain loops
  CpuValues<T> values_;
  std::vector<Packed> packed_;                  // by the product's result
  std::vector<std::vector<T>> packed_rows_{1};  // by worker: a block of b
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const Plan& plan, const Schedule& schedule, Dtype dtype, const Plan* whole) {
  const CpuKernels* kernels = cpu_kernels_for(whole != nullptr ? *whole : plan);
  if (dtype == Dtype::f32)
    return std::make_unique<CpuBackend<float>>(plan, schedule, kernels != nullptr ? &kernels->f32 : nullptr);
  return std::make_unique<CpuBackend<double>>(plan, schedule, kernels != nullptr ? &kernels->f64 : nullptr);
}

}  // namespace mha::compute
