// An input file, opened for reading, and what to say of an input that cannot be read.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "io/json/input_fault.hpp"

namespace mha::io {

class InputFile {
 public:
  explicit InputFile(const std::string& path);  // throws Error
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  int fd() const { return fd_; }

 private:
  int fd_;
};

// "NAME:LINE:COLUMN: PATH: what was found, what was expected, how to mend it"
Error named(std::string_view name, const InputFault& fault);

// The same of what the system says: `code` is an errno.
Error named(std::string_view name, int code);

}  // namespace mha::io
