// Numbers that lie elsewhere, in a file, or follow from a rule, until someone asks for them in the type that they compute
// with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

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

}  // namespace mha
