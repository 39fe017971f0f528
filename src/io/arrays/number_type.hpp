// The types of number that files hold, and how each becomes a float or a double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mha::io {

enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

struct NumberTypeInfo {
  NumberType type;
  std::string_view npy;          // as a .npy header has it, behind the byte order; "" where NumPy has no such type
  std::string_view safetensors;  // as a .safetensors header has it
  int bytes;
};
const NumberTypeInfo& info_of(NumberType type);
std::optional<NumberType> npy_number_type(std::string_view name);
std::optional<NumberType> safetensors_number_type(std::string_view name);

// Numbers as they lie in a file.
struct RawNumbers {
  NumberType type = NumberType::f64;
  bool big_endian = false;
  const std::byte* first = nullptr;
  std::ptrdiff_t stride = 1;  // from one to the next, in numbers
};

enum class Flaw {
  none,
  not_finite,  // ±∞ or NaN
  not_exact,   // an integer that lies between two doubles
  too_large,   // finite, but not in float
  no_boolean,  // a byte other than 0 and 1
};

// Writes `count` numbers to `to`, the nearest that T has, and tells whether one of them is not what a matrix holds.
template <typename T>
bool convert(const RawNumbers& from, std::int64_t count, T* to);

// What is wrong with one number where it becomes a T.
template <typename T>
Flaw flaw_of(const RawNumbers& from, std::int64_t index);

// One number as a person writes it: digits for integers, so that nothing is rounded.
std::string text_of(const RawNumbers& from, std::int64_t index);

}  // namespace mha::io
