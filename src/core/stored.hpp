// Numbers that lie elsewhere, in a file, until someone asks for them in the type that they compute with.
#pragma once

#include <cstdint>
#include <memory>

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

}  // namespace mha
