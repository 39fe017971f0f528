// An array in a file as its header has it: where the bytes are, and what they mean.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "io/arrays/number_type.hpp"

namespace mha::io {

// The bytes of one array. They may be made only when they are asked for; safe to call from several threads.
class ArrayBytes {
 public:
  virtual ~ArrayBytes() = default;
  virtual const std::byte* data() const = 0;  // valid as long as this object; throws Error where they cannot be had
  virtual void expect_whole() const {}        // throws Error where what was read since is not to be believed
};

// The header of an array: .npy, or a tensor of a .safetensors file.
struct ArrayHeader {
  NumberType type = NumberType::f64;
  bool big_endian = false;
  bool fortran_order = false;  // the first axis changes fastest
  std::vector<Index> axes;     // empty: a single number
  std::size_t data_begin = 0;  // in bytes, from the first of the header

  std::size_t data_bytes() const;
};

struct StoredArray {
  ArrayHeader header;
  std::shared_ptr<const ArrayBytes> bytes;
  std::string name;  // for messages: "w.npy", "W_Q in w.npz"
};

// The product of the axes and of a number's bytes; throws Error, which begins with `name`, where that is no sensible size.
void check_size(const ArrayHeader& header, std::string_view name);

}  // namespace mha::io
