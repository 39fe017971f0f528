// Arrays as an answer: .npz and .safetensors files with the names of steps, a .npy file with one matrix.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/json/tree.hpp"

namespace mha::io {

// By the ending of the path.
bool holds_arrays(std::string_view path);

// An object of matrices under flat names ("weights1", "A1"); a .npy file's is called `as`, or as the file is. Arrays that
// are not called as steps are null, for the reader to pass over. Throws Error.
Node read_arrays(const std::string& path, const std::optional<std::string>& as);

}  // namespace mha::io
