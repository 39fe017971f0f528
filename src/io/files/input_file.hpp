// Files that are read: as a stream, as one text or in memory, and what to say of an input that cannot be read.
#pragma once

#include <sys/stat.h>

#include <system_error>

#include "core/error.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

// "NAME:LINE:COLUMN: PATH: what was found, what was expected, how to mend it"
Error named(std::string_view name, const InputFault& fault);

// What the system says: `code` is an errno.
Saying system_says(int code);

// The same of what the system says.
Error named(std::string_view name, int code);

// What `read` gives; what is wrong with the input is told under its name.
template <typename Read>
auto under_name(std::string_view name, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const InputFault& fault) {
    throw named(name, fault);
  } catch (const std::system_error& error) {
    throw named(name, error.code().value());
  }
}

// Open for reading. Every function throws Error.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }
  struct stat status() const;
  std::string text() const;  // all that is left to read
  std::string bytes_at(Index from, Index count) const;

 private:
  std::string path_;
  int fd_;
};

// A regular file in memory (a pipe has no size that a header could be held against): of a model of gigabytes only the rows
// of one layer are touched, and these go straight from the system's cache into the backend's buffers. Being cut short
// meanwhile does no harm.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  // throws Error
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const InputFile& file() const { return file_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Throws Error where the file has become shorter than it was, so that what has been read since is not to be believed.
  void expect_whole() const;

 private:
  InputFile file_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mha::io
