// The header of a .npy array that is written.
#pragma once

#include <string>

#include "io/arrays/trace_arrays.hpp"

namespace mha::io {

// Version 1.0, filled with spaces so that the numbers begin at a multiple of 64 bytes.
std::string npy_header(const TraceArray& array, Dtype dtype);

Index data_bytes(const TraceArray& array, Dtype dtype);

}  // namespace mha::io
