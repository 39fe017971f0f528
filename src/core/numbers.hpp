// One block of doubles that grows without copying where the allocator can move pages instead (realloc).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mha {

// Memory for many numbers, on huge pages where the system has them: not initialised; to be given back with std::free. With
// pages of 4 kB a matrix of 200 MB costs 50,000 page faults the first time it is written, which takes longer than computing
// it.
inline void* allocate_block(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t(2) << 20;
  void* block = nullptr;
  if (bytes < 2 * huge_page) {
    block = std::malloc(bytes > 0 ? bytes : 1);
  } else {
    if (bytes > static_cast<std::size_t>(-1) - huge_page) throw std::bad_alloc();
    const std::size_t whole_pages = (bytes + huge_page - 1) / huge_page * huge_page;
    block = std::aligned_alloc(huge_page, whole_pages);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (block != nullptr) madvise(block, whole_pages, MADV_HUGEPAGE);  // a wish: without it everything works, slower
#endif
  }
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// std::vector<double> would do but for two costs that a 60 MB matrix feels: it zeroes what is about to be overwritten,
// and while it grows the old and the new block are both resident.
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(std::size_t size) { resize(size); }
  Numbers(const Numbers& other) : Numbers(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  Numbers(Numbers&& other) noexcept { swap(other); }
  Numbers& operator=(Numbers other) noexcept {
    swap(other);
    return *this;
  }
  ~Numbers() { std::free(data_); }

  double* data() { return data_; }
  const double* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  double& operator[](std::size_t i) { return data_[i]; }
  double operator[](std::size_t i) const { return data_[i]; }

  void push_back(double value) {
    if (size_ == capacity_) reserve(capacity_ < 8 ? 16 : capacity_ + capacity_ / 2);
    data_[size_++] = value;
  }

  // New entries are not initialised.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(size);
    size_ = size;
  }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > static_cast<std::size_t>(-1) / sizeof(double)) throw std::bad_alloc();
    const std::size_t bytes = capacity * sizeof(double);
    void* grown = data_ == nullptr ? allocate_block(bytes) : std::realloc(data_, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<double*>(grown);
    capacity_ = capacity;
  }

  void swap(Numbers& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  double* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// NaN is the same as NaN.
inline bool same_numbers(const double* a, const double* b, std::size_t count) {
  return std::equal(a, a + count, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace mha
