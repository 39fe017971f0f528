// Follows links and compares device and inode, so that another name is no other file.
#include "io/files/file_identity.hpp"

#include <unistd.h>

#include <filesystem>

#include "core/error.hpp"

namespace mha::io {

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::string follow_links(const std::string& path) {
  constexpr int longest_chain = 40;  // as Linux has it
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < longest_chain && std::filesystem::is_symlink(target, error); ++i) {
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  return target.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

namespace {

// What decides whether writing one path would overwrite what is under another.
struct Identity {
  bool regular = false;   // only these are overwritten; a pipe or a terminal may be read and written
  struct stat status {};  // of the file, or of its folder when there is no file yet
  std::string new_name;   // then: its name in there
  bool operator==(const Identity& other) const {
    return regular && other.regular && status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino &&
           new_name == other.new_name;
  }
};

Identity identity_of(const std::optional<struct stat>& status) {
  if (!status) return {};
  return {S_ISREG(status->st_mode), *status, ""};
}

Identity identity_of_output(const std::string& path) {
  const std::string target = follow_links(path);
  if (const auto status = status_of(target)) return identity_of(status);
  const auto folder = status_of(folder_of(target));
  if (!folder) return {};
  return {true, *folder, std::filesystem::path(target).filename().string()};
}

Identity identity_of_input(const std::string& path) {
  if (path != "-") return identity_of(status_of(path));
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return {};
  return identity_of(status);
}

}  // namespace

void refuse_overwriting(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Identity output = identity_of_output(outputs[i]);
    for (const std::string& input : inputs) {
      if (output == identity_of_input(input))
        throw Error("the output " + outputs[i] + " is what this run reads (" + (input == "-" ? "standard input" : input) +
                    "); name another file");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (output == identity_of_output(outputs[j]))
        throw Error("the outputs " + outputs[j] + " and " + outputs[i] + " are one file; name two");
    }
  }
}

}  // namespace mha::io
