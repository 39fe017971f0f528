// The folder into which files are written, made where it is missing.
#pragma once

#include <string>

namespace mha::io {

// With all folders above it. Throws Error where that cannot be done.
void make_folder(const std::string& path);

}  // namespace mha::io
