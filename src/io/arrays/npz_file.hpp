// A .npz file: a zip archive with one .npy array in each entry.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/arrays/array.hpp"
#include "io/files/mapped_file.hpp"

namespace mha::io {

// Entries stored or deflated, as np.savez and np.savez_compressed write them. What is read of an entry is bounded by the
// .npy header in it, whatever the archive promises.
class NpzFile : public std::enable_shared_from_this<NpzFile> {
 public:
  // Throws Error where this is no such archive: damaged, encrypted, with two entries of one name or with names that lead
  // out of a folder.
  static std::shared_ptr<const NpzFile> open(std::shared_ptr<const MappedFile> file);
  virtual ~NpzFile() = default;

  virtual const std::vector<std::string>& names() const = 0;  // of the arrays, in the order of the file
  // The array NAME, which is one of names(); its numbers are decompressed when they are asked for. `shown` is what messages
  // call it.
  virtual std::shared_ptr<const StoredArray> array(const std::string& name, const std::string& shown) const = 0;
};

}  // namespace mha::io
