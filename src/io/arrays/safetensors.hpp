// What a .safetensors file holds: the names, types, shapes and places of its tensors. The data is not touched.
#pragma once

#include <optional>

#include "io/arrays/array.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {

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
