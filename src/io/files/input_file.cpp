// An input file, opened for reading, and what to say of an input that cannot be read.
#include "io/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace mha::io {

InputFile::InputFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw named(path, errno);
}

InputFile::~InputFile() {
  ::close(fd_);
}

Error named(std::string_view name, const InputFault& fault) {
  const auto [line, column] = fault.position();
  const std::string path = fault.path().empty() ? "" : fault.path() + ": ";
  return Error(fmt::format("{}:{}:{}: {}{}", name, line, column, path, fault.what()));
}

Error named(std::string_view name, int code) {
  switch (code) {
    case ENOENT: return Error(fmt::format("{}: there is no such file; check the path", name));
    case EISDIR: return Error(fmt::format("{}: this is a directory; name a problem file in it", name));
    case EACCES: return Error(fmt::format("{}: no permission to read it; allow it with chmod +r", name));
    default: return Error(fmt::format("{}: cannot be read: {}", name, std::generic_category().message(code)));
  }
}

}  // namespace mha::io
