// Problem files: JSON in, a checked Problem out.
#include "io/problem_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/error.hpp"
#include "io/json_reader.hpp"
#include "io/problem_parts.hpp"

namespace mha {
namespace {

constexpr std::string_view lists_of_text[] = {"tokens", "tokens_kv"};

Problem read_parts(Node& root) {
  const auto fields = read_fields(root, problem_fields, "one problem: {\"X\": …, \"heads\": …, \"W_O\": …}");
  Problem problem;
  read_inputs(root, fields, problem);
  read_weights(root, fields, problem);
  read_output_projection(root, fields, problem);
  read_labels(fields, problem);
  read_masks(fields, problem);
  read_rules(fields, problem);
  return problem;
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

// `input` is what a Source is made from.
template <typename Input>
Problem read(Input input, std::string_view name) {
  try {
    Source source(input);
    Node root = read_json(source, lists_of_text);
    return read_parts(root);
  } catch (const InputFault& fault) {
    throw named(name, fault);
  } catch (const std::system_error& error) {
    throw named(name, error.code().value());
  }
}

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw named(path, errno);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(fd_); }

  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Problem read_problem_file(const std::string& path) {
  const File file(path);
  return read(file.fd(), path);
}

Problem read_problem_fd(int fd, std::string_view name) {
  return read(fd, name);
}

Problem read_problem_text(std::string_view text, std::string_view name) {
  return read(text, name);
}

}  // namespace mha
