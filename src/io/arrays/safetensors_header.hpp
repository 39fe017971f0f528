// What a .safetensors file holds: the names, types, shapes and places of its tensors. The data is not touched.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.hpp"

namespace mha::io {

// A type of number that the format has. Those that mha does not read may be in a file as long as nobody asks for them.
struct SafetensorsDtype {
  std::string_view name;
  int bits;
  bool readable;
};

inline constexpr std::array safetensors_dtypes = {
    SafetensorsDtype{"BOOL", 8, true},         SafetensorsDtype{"U8", 8, true},
    SafetensorsDtype{"I8", 8, true},           SafetensorsDtype{"U16", 16, true},
    SafetensorsDtype{"I16", 16, true},         SafetensorsDtype{"U32", 32, true},
    SafetensorsDtype{"I32", 32, true},         SafetensorsDtype{"U64", 64, true},
    SafetensorsDtype{"I64", 64, true},         SafetensorsDtype{"F16", 16, true},
    SafetensorsDtype{"BF16", 16, true},        SafetensorsDtype{"F32", 32, true},
    SafetensorsDtype{"F64", 64, true},         SafetensorsDtype{"F8_E4M3", 8, false},
    SafetensorsDtype{"F8_E5M2", 8, false},     SafetensorsDtype{"F8_E8M0", 8, false},
    SafetensorsDtype{"F6_E2M3", 6, false},     SafetensorsDtype{"F6_E3M2", 6, false},
    SafetensorsDtype{"F4", 4, false},          SafetensorsDtype{"C64", 64, false},
    SafetensorsDtype{"F8_E4M3FNUZ", 8, false}, SafetensorsDtype{"F8_E5M2FNUZ", 8, false},
};

struct SafetensorsEntry {
  std::string name;
  const SafetensorsDtype* dtype = nullptr;  // a row of the table
  std::vector<Index> shape;                 // empty: a single number
  Index begin = 0, end = 0;                 // bytes, from the beginning of the file

  Index size() const;  // numbers
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // as they lie in the file; their data follow one another without holes
  std::vector<std::pair<std::string, std::string>> metadata;

  const SafetensorsEntry* find(std::string_view name) const;  // null where there is none
};

// Nothing in the header is believed: the length, the JSON, every type, shape and place is checked against the others and
// against the size of the file. Throws Error, which begins with `path`.
SafetensorsHeader read_safetensors_header(const std::string& path);
SafetensorsHeader read_safetensors_header(int fd, std::string_view path);

// Throws Error where the numbers of this tensor are of a type that mha does not read.
void expect_readable(const SafetensorsEntry& entry, std::string_view path);

}  // namespace mha::io
