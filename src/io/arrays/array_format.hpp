// The binary formats of a trace: where each array's numbers go, and what stands around them. All sizes follow from the
// shapes, so the numbers may come in any order.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/arrays/trace_arrays.hpp"

namespace mha::io {

// Bytes at a place of the file.
struct FilePiece {
  Index begin = 0;
  std::string bytes;
};

struct ArrayLayout {
  std::vector<Index> begins;      // where the numbers of each array begin, little-endian, row after row
  std::vector<FilePiece> around;  // everything else that is known beforehand
  Index size = 0;                 // of the file, or where what is left to write begins
};

// One array; the shape's text as Python has it.
ArrayLayout npy_layout(const TraceArray& array, Dtype dtype);

// `metadata` are texts about the run.
ArrayLayout safetensors_layout(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata);

// Entries stored as they are. `large` is the size from which on the zip format needs its 64-bit form.
inline constexpr Index zip64_from = 0xFFFFFFFF;
ArrayLayout npz_layout(const std::vector<TraceArray>& arrays, Dtype dtype, Index large = zip64_from);
// What can be written only when the numbers are there, because it holds their checksums: `crc` gives that of so many bytes
// from a place of the file.
std::vector<FilePiece> npz_directory(const std::vector<TraceArray>& arrays, Dtype dtype, const ArrayLayout& layout,
                                     const std::function<std::uint32_t(Index begin, Index count)>& crc,
                                     Index large = zip64_from);

constexpr Index bytes_of(Dtype dtype) {
  return dtype == Dtype::f32 ? 4 : 8;
}

}  // namespace mha::io
