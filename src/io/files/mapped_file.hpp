// A file in memory: its pages are read when they are touched, and one that is cut short meanwhile does no harm.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace mha::io {

// Read only. Memory-mapped rather than read: of a model of gigabytes only the rows of one layer are touched, and these go
// straight from the system's cache into the backend's buffers.
class MappedFile {
 public:
  // `path` must lead to a regular file: a pipe has no size that its header could be held against. Throws Error.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Throws Error where the file has become shorter than it was, so that what has been read since is not to be believed.
  void expect_whole() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mha::io
