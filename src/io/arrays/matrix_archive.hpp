// A file with one array or several of them: .npy, .npz or .safetensors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/arrays/array.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {

class MatrixArchive {
 public:
  virtual ~MatrixArchive() = default;

  // The key that chooses an array in a problem: "name", "tensor", or "" where the file holds one array.
  virtual std::string_view key() const = 0;
  // Null where there is none of this name. Throws Error where what is there cannot be read.
  virtual std::shared_ptr<const StoredArray> array(const std::string& name) const = 0;
  virtual std::vector<std::string> names() const = 0;  // of the arrays; one "" where they need none
  // " Did you mean …?" or what there is, for messages.
  std::string known(const std::string& name) const;
};

// By the ending of the path; `shown` is what messages call the file. Throws Error.
std::shared_ptr<const MatrixArchive> open_matrix_archive(const std::string& path, const std::string& shown);

// A .npz file: a zip archive with one .npy array in each entry, stored or deflated, as np.savez and np.savez_compressed
// write them. Error where it is damaged, encrypted, with two entries of one name or with names that lead out of a folder.
// What is read of an entry is bounded by the .npy header in it, whatever the archive promises.
std::shared_ptr<const MatrixArchive> open_npz(std::shared_ptr<const MappedFile> file, const std::string& shown);

}  // namespace mha::io
