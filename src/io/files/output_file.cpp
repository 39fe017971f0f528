// Temporary file, rename, and a sentence for each way in which the file system says no.
#include "io/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/files/file_identity.hpp"

namespace mha::io {
namespace {

// The permissions of a file that any program creates.
mode_t new_file_permissions() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error("could not write to " + path + ": " + why, Exit::no_output);
}

[[noreturn]] void refuse(const std::string& path, int error) {
  refuse(path, std::generic_category().message(error));
}

// The temporary file could not be made in, or renamed within, this folder.
[[noreturn]] void refuse_folder(const std::string& path, const std::string& folder, int error) {
  switch (error) {
    case ENOENT:
      if (!status_of(folder))
        refuse(path, "there is no folder " + folder + "; create it (mkdir -p " + folder + ") or name another");
      [[fallthrough]];  // a folder that makes no files, such as /proc
    case ENOTDIR: refuse(path, folder + " is not a folder; name another");
    case EACCES:
    case EPERM:
    case EROFS: refuse(path, "the folder " + folder + " does not allow new files; name another, or allow writing in it");
    default: refuse(path, error);
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  const std::optional<struct stat> existing = status_of(target_);
  if (!existing) {
    if (errno != ENOENT) refuse_folder(path_, folder_of(target_), errno);
    open_beside(new_file_permissions());
  } else if (S_ISREG(existing->st_mode)) {
    if (access(target_.c_str(), W_OK) != 0) refuse(path_, "the file is protected; name another, or allow writing to it");
    open_beside(existing->st_mode & 0777);
  } else if (S_ISDIR(existing->st_mode)) {
    refuse(path_, "it is a folder; name a file in it");
  } else {
    open_straight();
  }
  sink_.emplace(descriptor_, path_);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::open_beside(unsigned permissions) {
  const std::string folder = folder_of(target_);
  std::string name = folder + "/.mha-XXXXXX";
  descriptor_ = mkstemp(name.data());
  if (descriptor_ < 0) refuse_folder(path_, folder, errno);
  temporary_ = name;
  fchmod(descriptor_, permissions);  // some file systems have no permissions; that is no reason to fail
}

void OutputFile::open_straight() {
  descriptor_ = open(target_.c_str(), O_WRONLY);
  if (descriptor_ < 0) refuse(path_, errno);
}

void OutputFile::make_room(std::int64_t size) {
  if (temporary_.empty()) refuse(path_, "this format is written at several places at a time, so it needs an ordinary file");
  if (ftruncate(descriptor_, size) != 0) refuse(path_, errno);
}

void OutputFile::write_at(std::int64_t begin, const void* bytes, std::size_t count) {
  for (const char* rest = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t written = pwrite(descriptor_, rest, count, begin);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path_, errno);
    rest += written;
    begin += written;
    count -= static_cast<std::size_t>(written);
  }
}

void OutputFile::read_at(std::int64_t begin, void* bytes, std::size_t count) const {
  for (char* rest = static_cast<char*>(bytes); count > 0;) {
    const ssize_t found = pread(descriptor_, rest, count, begin);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) refuse(path_, found < 0 ? errno : EIO);
    rest += found;
    begin += found;
    count -= static_cast<std::size_t>(found);
  }
}

void OutputFile::complete() {
  if (descriptor_ < 0) return;
  sink_->flush();
  if (close(std::exchange(descriptor_, -1)) != 0) refuse(path_, errno);
}

void OutputFile::commit() {
  complete();
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) refuse_folder(path_, folder_of(target_), errno);
  temporary_.clear();
}

void commit_all(std::deque<OutputFile>& outputs) {
  for (OutputFile& output : outputs) output.complete();
  for (OutputFile& output : outputs) output.commit();
}

}  // namespace mha::io
