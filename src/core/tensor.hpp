// Every value of the computation: batch × heads × rows × cols of doubles, row after row, here or still in a file, until
// someone asks for them in the type that they compute with.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/numbers.hpp"

namespace mha {

// The entries of a Tensor, row after row: of batch item 0 and head 0 first, then of head 1, and so on. A backend that
// computes in float reads floats, so that a float file never becomes doubles on the way; one that computes in doubles may
// use Tensor::data(). Both may be called from several threads.
class Stored {
 public:
  virtual ~Stored() = default;

  // Rows first … first + count, counted through all matrices, to `to`. Throws Error where they cannot be read, where an
  // entry is no finite number, or where float cannot hold it: double is asked for everything else than speed.
  virtual void read_rows(std::int64_t first, std::int64_t count, double* to) const = 0;
  virtual void read_rows(std::int64_t first, std::int64_t count, float* to) const = 0;
};

// The rows of another one from `first` on.
class StoredRows : public Stored {
 public:
  StoredRows(std::shared_ptr<const Stored> whole, std::int64_t first) : whole_(std::move(whole)), first_(first) {}

  void read_rows(std::int64_t first, std::int64_t count, double* to) const override {
    whole_->read_rows(first_ + first, count, to);
  }
  void read_rows(std::int64_t first, std::int64_t count, float* to) const override {
    whole_->read_rows(first_ + first, count, to);
  }

 private:
  std::shared_ptr<const Stored> whole_;
  std::int64_t first_;
};

// Rows of so many columns that are never there as a whole: a rule makes each of them when it is asked for.
class RuleRows : public Stored {
 public:
  using Fill = std::function<void(std::int64_t row, double* to)>;  // counted through all matrices

  RuleRows(std::int64_t cols, Fill fill) : cols_(cols), fill_(std::move(fill)) {}

  void read_rows(std::int64_t first, std::int64_t count, double* to) const override {
    for (std::int64_t row = first; row < first + count; ++row, to += cols_) fill_(row, to);
  }
  void read_rows(std::int64_t first, std::int64_t count, float* to) const override {
    std::vector<double> numbers(static_cast<std::size_t>(cols_));
    for (std::int64_t row = first; row < first + count; ++row, to += cols_) {
      fill_(row, numbers.data());
      std::transform(numbers.begin(), numbers.end(), to, [](double number) { return static_cast<float>(number); });
    }
  }

 private:
  std::int64_t cols_;
  Fill fill_;
};

using Index = std::int64_t;

struct Shape {
  Index batch = 1;
  Index heads = 1;
  Index rows = 1;
  Index cols = 1;

  Index size() const { return batch * heads * rows * cols; }
  bool operator==(const Shape&) const = default;
  // But for the number of heads.
  bool has_matrices_as(const Shape& other) const {
    return batch == other.batch && rows == other.rows && cols == other.cols;
  }
};

// An entry of a tensor, from 0.
struct Entry {
  Index item = 0, head = 0, row = 0, column = 0;
  bool operator==(const Entry&) const = default;
};

template <typename Visit>
void for_each_entry(const Shape& shape, Visit visit) {
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      for (Index row = 0; row < shape.rows; ++row)
        for (Index column = 0; column < shape.cols; ++column) visit(Entry{item, head, row, column});
}

// Which of `small` entries serves entry i of `large` when an outer axis is broadcast: grouped-query attention's
// ⌊i / (h/g)⌋ on the head axis, and "one for all" when small is 1. `small` divides `large`.
constexpr Index broadcast(Index i, Index small, Index large) {
  return i * small / large;
}

class Tensor {
 public:
  Tensor() : Tensor(Shape{1, 1, 0, 0}) {}
  // Entries are not initialised.
  explicit Tensor(Shape shape) : shape_(shape), numbers_(static_cast<std::size_t>(shape.size())) {}
  Tensor(Shape shape, Numbers numbers) : shape_(shape), numbers_(std::move(numbers)) {
    assert(static_cast<Index>(numbers_.size()) == shape.size());
  }

  // Of numbers that stay where they are until data() or a backend asks for them.
  Tensor(Shape shape, std::shared_ptr<const Stored> stored);

  const Shape& shape() const { return shape_; }
  Index size() const { return shape_.size(); }
  // Null where the numbers are here.
  const std::shared_ptr<const Stored>& stored() const { return stored_; }
  double* data() {
    if (stored_) take_over();  // what is changed here is not changed in the file
    return numbers_.data();
  }
  // What is stored elsewhere is read as doubles at the first call, for all copies of the tensor; throws Error as Stored
  // does.
  const double* data() const { return stored_ ? loaded() : numbers_.data(); }

  // The first entry of the matrix of one batch item and head.
  double* matrix(Index batch, Index head) { return data() + offset(batch, head, 0, 0); }
  const double* matrix(Index batch, Index head) const { return data() + offset(batch, head, 0, 0); }

  double& at(Index batch, Index head, Index row, Index col) { return data()[offset(batch, head, row, col)]; }
  double at(Index batch, Index head, Index row, Index col) const { return data()[offset(batch, head, row, col)]; }
  double& at(const Entry& entry) { return at(entry.item, entry.head, entry.row, entry.column); }
  double at(const Entry& entry) const { return at(entry.item, entry.head, entry.row, entry.column); }

  // The entry that stands at this place of a larger tensor onto which this one is broadcast: outer axes by the group
  // rule, rows and columns from 1 or exactly.
  double spread(const Shape& onto, const Entry& entry) const {
    return at(broadcast(entry.item, shape_.batch, onto.batch), broadcast(entry.head, shape_.heads, onto.heads),
              shape_.rows == 1 ? 0 : entry.row, shape_.cols == 1 ? 0 : entry.column);
  }

  // One row, counted through all matrices. Of a stored tensor it alone is read, into `room`, which must live as long as the
  // result.
  const double* row(Index row, std::vector<double>& room) const;
  // The row that stands at this place of a larger tensor onto which this one is broadcast.
  const double* row(const Shape& onto, Index batch, Index head, Index row, std::vector<double>& room) const;

  void fill(double value) { std::fill(data(), data() + size(), value); }

 private:
  struct Loaded;

  const double* loaded() const;
  void take_over();
  Index offset(Index batch, Index head, Index row, Index col) const {
    assert(batch < shape_.batch && head < shape_.heads && row < shape_.rows && col < shape_.cols);
    return ((batch * shape_.heads + head) * shape_.rows + row) * shape_.cols + col;
  }

  Shape shape_;
  Numbers numbers_;
  std::shared_ptr<const Stored> stored_;
  std::shared_ptr<Loaded> loaded_;  // beside stored_
};

// Of rows that follow from a rule.
inline Tensor by_rule(Shape shape, RuleRows::Fill fill) {
  return {shape, std::make_shared<const RuleRows>(shape.cols, std::move(fill))};
}

}  // namespace mha
