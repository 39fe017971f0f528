// Where paths lead. Nothing here throws for what the file system says, but an Error that tells it.
#include "io/files/paths.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;

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
  return status ? Identity{S_ISREG(status->st_mode), *status, ""} : Identity{};
}

Identity identity_of_output(const std::string& path) {
  if (const auto status = status_of(path)) return identity_of(status);
  const std::string target = follow_links(path);
  const auto folder = status_of(folder_of(target));
  return folder ? Identity{true, *folder, fs::path(target).filename().string()} : Identity{};
}

Identity identity_of_input(const std::string& path) {
  if (path != "-") return identity_of(status_of(path));
  struct stat status {};
  return fstat(STDIN_FILENO, &status) == 0 ? identity_of(status) : Identity{};
}

std::vector<std::string> names_in(const std::string& folder, fs::file_type type) {
  std::error_code error, unknown;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (entry->status(unknown).type() == type && !name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) throw named(folder, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::string follow_links(const std::string& path) {
  constexpr int longest_chain = 40;  // as Linux has it
  fs::path target = path;
  std::error_code error;
  for (int i = 0; i < longest_chain && fs::is_symlink(target, error); ++i)
    target = target.parent_path() / fs::read_symlink(target, error);
  return target.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::vector<std::string> files_in(const std::string& folder) {
  return names_in(folder, fs::file_type::regular);
}

std::vector<std::string> folders_in(const std::string& folder) {
  return names_in(folder, fs::file_type::directory);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  const auto status = status_of(path);
  if (status && S_ISDIR(status->st_mode)) return;
  throw Error(say({"could not make the folder {}: {}; name another", "无法建立文件夹 {}：{}；请换一个"}, path,
                  status ? Saying{"a file has this name", "已有同名的文件"} : system_says(error.value())),
              Exit::no_output);
}

FolderLock::FolderLock(const std::string& folder) : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

void refuse_overwriting(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Identity output = identity_of_output(outputs[i]);
    for (const std::string& input : inputs)
      if (output == identity_of_input(input))
        throw Error({"the output {} is what this run reads ({}); name another file",
                     "输出 {} 正是这次要读取的文件（{}）；请换一个"},
                    outputs[i], input == "-" ? Saying{"standard input", "标准输入"} : named_so(input));
    for (std::size_t j = 0; j < i; ++j)
      if (output == identity_of_output(outputs[j]))
        throw Error({"the outputs {} and {} are one file; name two", "输出 {} 和 {} 是同一个文件；请写两个"}, outputs[j],
                    outputs[i]);
  }
}

}  // namespace mha::io
