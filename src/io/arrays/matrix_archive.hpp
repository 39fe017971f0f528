// A file with one array or several of them: .npy, .npz or .safetensors.
#pragma once

#include "io/arrays/array.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {

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

}  // namespace mha::io
