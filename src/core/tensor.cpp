// Every value of the computation: how one that lies in a file becomes doubles, once.
#include "core/tensor.hpp"

#include <atomic>
#include <mutex>

namespace mha {

struct Tensor::Loaded {
  std::mutex mutex;
  std::atomic<const double*> first = nullptr;  // once all numbers are there
  Numbers numbers;
};

Tensor::Tensor(Shape shape, std::shared_ptr<const Stored> stored)
    : shape_(shape), stored_(std::move(stored)), loaded_(std::make_shared<Loaded>()) {}

const double* Tensor::loaded() const {
  if (const double* first = loaded_->first.load(std::memory_order_acquire)) return first;
  const std::lock_guard lock(loaded_->mutex);
  if (loaded_->first.load(std::memory_order_relaxed) == nullptr) {
    Numbers numbers(static_cast<std::size_t>(size()));
    stored_->read_rows(0, size() / shape_.cols, numbers.data());
    loaded_->numbers = std::move(numbers);
    loaded_->first.store(loaded_->numbers.data(), std::memory_order_release);
  }
  return loaded_->first.load(std::memory_order_relaxed);
}

const double* Tensor::row(Index row, std::vector<double>& room) const {
  if (!stored_) return numbers_.data() + row * shape_.cols;
  room.resize(static_cast<std::size_t>(shape_.cols));
  stored_->read_rows(row, 1, room.data());
  return room.data();
}

const double* Tensor::row(const Shape& onto, Index batch, Index head, Index row, std::vector<double>& room) const {
  const Index matrix =
      broadcast(batch, shape_.batch, onto.batch) * shape_.heads + broadcast(head, shape_.heads, onto.heads);
  return this->row(matrix * shape_.rows + (shape_.rows == 1 ? 0 : row), room);
}

void Tensor::take_over() {
  Numbers numbers(static_cast<std::size_t>(size()));
  std::copy_n(loaded(), size(), numbers.data());
  numbers_ = std::move(numbers);
  stored_.reset();
  loaded_.reset();
}

}  // namespace mha
