// Memory for many numbers, on huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mha {

// Not initialised; to be given back with std::free. With pages of 4 kB a matrix of 200 MB costs 50,000 page faults the
// first time it is written, which takes longer than computing it.
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

}  // namespace mha
