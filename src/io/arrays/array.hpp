// Arrays in files: the types of number they hold and how each becomes a float or a double, what a header says, and files
// with one array or several of them: .npy, .npz or .safetensors, whose tensors have names, types, shapes and places.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <optional>

#include "core/tensor.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {

enum class NumberType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

struct NumberTypeInfo {
  NumberType type;
  std::string_view npy;          // as a .npy header has it, behind the byte order; "" where NumPy has no such type
  std::string_view safetensors;  // as a .safetensors header has it
  int bytes;
};
inline constexpr std::array number_types = {
    NumberTypeInfo{NumberType::f16, "f2", "F16", 2},      NumberTypeInfo{NumberType::bf16, "", "BF16", 2},
    NumberTypeInfo{NumberType::f32, "f4", "F32", 4},      NumberTypeInfo{NumberType::f64, "f8", "F64", 8},
    NumberTypeInfo{NumberType::i8, "i1", "I8", 1},        NumberTypeInfo{NumberType::i16, "i2", "I16", 2},
    NumberTypeInfo{NumberType::i32, "i4", "I32", 4},      NumberTypeInfo{NumberType::i64, "i8", "I64", 8},
    NumberTypeInfo{NumberType::u8, "u1", "U8", 1},        NumberTypeInfo{NumberType::u16, "u2", "U16", 2},
    NumberTypeInfo{NumberType::u32, "u4", "U32", 4},      NumberTypeInfo{NumberType::u64, "u8", "U64", 8},
    NumberTypeInfo{NumberType::boolean, "b1", "BOOL", 1},
};
constexpr int bytes_of(NumberType type) {
  return number_types[static_cast<std::size_t>(type)].bytes;
}

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

// The header of an array: .npy, or a tensor of a .safetensors file.
struct ArrayHeader {
  NumberType type = NumberType::f64;
  bool big_endian = false;
  bool fortran_order = false;  // the first axis changes fastest
  std::vector<Index> axes;     // empty: a single number
  std::size_t data_begin = 0;  // in bytes, from the first of the header

  std::size_t data_bytes() const;
};

// The bytes of an array that is compressed are made when they are asked for; safe to call from several threads.
struct StoredArray {
  ArrayHeader header;
  std::string name;  // for messages: "w.npy", "W_Q in w.npz"
  std::shared_ptr<const MappedFile> file;
  std::function<std::vector<std::byte>()> decompress;  // header and all; none where the file has them as they are

  const std::byte* data() const;  // behind the header, as long as this object; throws Error where they cannot be had

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::byte> decompressed_;
};

// No header that mha reads is longer, its first bytes included.
inline constexpr std::size_t longest_npy_header = 70'000;

// `beginning` is the whole array or at least longest_npy_header bytes of it, `size` what the whole has. Nothing is
// believed: the header must be the plain literal that NumPy writes, of numbers that mha reads, and the data must fill the
// rest to the byte. Throws Error, which begins with `name`.
ArrayHeader read_npy_header(std::string_view beginning, std::size_t size, std::string_view name);

// The product of the axes and of a number's bytes; throws Error, which begins with `name`, where that is no sensible size.
void check_size(const ArrayHeader& header, std::string_view name);

struct MatrixArchive {
  std::string_view key;            // that chooses an array in a problem: "name", "tensor", or "" where the file holds one
  std::vector<std::string> names;  // of the arrays; one "" where they need none
  // Null where there is none of this name. Throws Error where what is there cannot be read.
  std::function<std::shared_ptr<const StoredArray>(const std::string& name)> array;

  // " Did you mean …?" or what there is, for messages.
  Saying known(const std::string& name) const;
};

// By the ending of the path; `shown` is what messages call the file. Throws Error.
MatrixArchive open_matrix_archive(const std::string& path, const std::string& shown);

// A .npz file: a zip archive with one .npy array in each entry, stored or deflated, as np.savez and np.savez_compressed
// write them. Error where it is damaged, encrypted, with two entries of one name or with names that lead out of a folder.
// What is read of an entry is bounded by the .npy header in it, whatever the archive promises.
MatrixArchive open_npz(const std::shared_ptr<const MappedFile>& file, const std::string& shown);

struct SafetensorsEntry {
  std::string name;
  std::string_view dtype;          // "F32"
  std::optional<NumberType> type;  // none: mha does not read it, which is no fault as long as nobody asks for it
  int bits = 0;                    // of a number
  std::vector<Index> shape;        // empty: a single number
  Index begin = 0, end = 0;        // bytes, from the beginning of the file

  Index size() const;  // numbers
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // as they lie in the file; their data follow one another without holes

  const SafetensorsEntry* find(std::string_view name) const;  // null where there is none
};

// Nothing in the header is believed: the length, the JSON, every type, shape and place is checked against the others and
// against the size of the file. Throws Error, which begins with `shown`.
SafetensorsHeader read_safetensors_header(const InputFile& file, std::string_view shown);

// "tensor "model.layers.0.q_proj.weight"", for messages.
Saying tensor_called(std::string_view name);

// Throws Error where the numbers of this tensor are of a type that mha does not read.
void expect_readable(const SafetensorsEntry& entry, std::string_view path);

}  // namespace mha::io
