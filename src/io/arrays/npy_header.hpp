// The header of a .npy array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <string_view>

#include "io/arrays/array.hpp"

namespace mha::io {

// No header that mha reads is longer, its first bytes included.
inline constexpr std::size_t longest_npy_header = 70'000;

// `beginning` is the whole array or at least longest_npy_header bytes of it, `size` what the whole has. Nothing is
// believed: the header must be the plain literal that NumPy writes, of numbers that mha reads, and the data must fill the
// rest to the byte. Throws Error, which begins with `name`.
ArrayHeader read_npy_header(std::string_view beginning, std::size_t size, std::string_view name);

}  // namespace mha::io
