// Writes to a descriptor until all is out: interrupted, short and refused writes each have their answer. A file is written
// beside the one whose place it takes.
#include "io/files/sink.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "core/error.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"

namespace mha::io {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;

// A terminal or pipe that another program has made non-blocking.
void wait_until_writable(int descriptor) {
  pollfd wanted{descriptor, POLLOUT, 0};
  poll(&wanted, 1, -1);
}

// The permissions of a file that any program creates.
mode_t new_file_permissions() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

template <typename... Parts>
[[noreturn]] void refuse_target(const std::string& path, const Text& why, const Parts&... parts) {
  throw Error(say({"could not write to {}: {}", "无法写入 {}：{}"}, path, say(why, parts...)), Exit::no_output);
}

[[noreturn]] void refuse_target(const std::string& path, int error) {
  refuse_target(path, {"{}", "{}"}, system_says(error));
}

// The temporary file could not be made in, or renamed within, this folder.
[[noreturn]] void refuse_folder(const std::string& path, const std::string& folder, int error) {
  const auto status = status_of(folder);
  switch (error) {
    case ENOENT:
      if (!status)
        refuse_target(path,
                      {"there is no folder {0}; create it (mkdir -p {0}) or name another",
                       "没有文件夹 {0}；请先建立（mkdir -p {0}），或换一个"},
                      folder);
      [[fallthrough]];
    case ENOTDIR:
      if (!status || !S_ISDIR(status->st_mode))
        refuse_target(path, {"{} is not a folder; name another", "{} 不是文件夹；请换一个"}, folder);
      [[fallthrough]];  // a folder that makes no files, such as /proc
    case EACCES:
    case EPERM:
    case EROFS:
      refuse_target(path,
                    {"the folder {} does not allow new files; name another, or allow writing in it",
                     "文件夹 {} 不允许新建文件；请换一个，或允许写入"},
                    folder);
    default: refuse_target(path, error);
  }
}

// The temporary files that are there, for the signal handler. One that finds no place stays when the program is ended.
std::array<std::atomic<const char*>, 256> temporaries;
constexpr std::array endings_by_signal = {SIGHUP, SIGINT, SIGTERM};

// In the handler the action is the default one again, which ends the program when this returns.
void remove_temporaries(int signal) {
  for (const auto& place : temporaries)
    if (const char* const path = place.load()) unlink(path);
  raise(signal);
}

// Signals that the program was started to ignore stay ignored.
void catch_endings() {
  static const bool caught = [] {
    struct sigaction action {
    }, before{};
    action.sa_handler = remove_temporaries;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int signal : endings_by_signal)
      if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
    return true;
  }();
  static_cast<void>(caught);
}

void exchange_temporary(const char* from, const char* to) {
  for (auto& place : temporaries) {
    const char* expected = from;
    if (place.compare_exchange_strong(expected, to)) return;
  }
}

// Makes the file of this pattern; no signal comes between its making and its place in the list.
int make_temporary(std::string& name) {
  catch_endings();
  sigset_t endings, before;
  sigemptyset(&endings);
  for (const int signal : endings_by_signal) sigaddset(&endings, signal);
  pthread_sigmask(SIG_BLOCK, &endings, &before);
  const int descriptor = mkostemp(name.data(), O_CLOEXEC), error = errno;
  if (descriptor >= 0) exchange_temporary(nullptr, name.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return descriptor;
}

}  // namespace

FdSink::FdSink(int descriptor, Saying name, Reader reader)
    : descriptor_(descriptor), name_(std::move(name)), reader_(reader) {
  buffer_.reserve(buffer_size);
}

void FdSink::write(std::string_view text) {
  if (buffer_.size() + text.size() > buffer_size) flush();
  if (text.size() >= buffer_size) {
    write_all(text);
  } else {
    buffer_.append(text);
  }
}

void FdSink::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void FdSink::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_until_writable(descriptor_);
    } else if (errno == EPIPE && reader_ == Reader::may_go) {
      throw ClosedPipe();
    } else if (errno != EINTR) {
      throw Error(say({"could not write to {}: {}", "无法写入 {}：{}"}, name_, system_says(errno)), Exit::no_output);
    }
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  const std::optional<struct stat> existing = status_of(path);
  const int error = errno;
  if (!existing || S_ISREG(existing->st_mode)) target_ = follow_links(path);
  if (!existing) {
    if (error != ENOENT) refuse_folder(path_, folder_of(target_), error);
    open_beside(new_file_permissions());
  } else if (S_ISREG(existing->st_mode)) {
    if (access(target_.c_str(), W_OK) != 0)
      refuse_target(path_,
                    {"the file is protected; name another, or allow writing to it", "文件受保护；请换一个，或允许写入"});
    open_beside(existing->st_mode & 0777);
  } else if (S_ISDIR(existing->st_mode)) {
    refuse_target(path_, {"it is a folder; name a file in it", "这是文件夹；请写其中的文件"});
  } else {
    open_straight();
  }
  sink_.emplace(descriptor_, named_so(path_), FdSink::Reader::is_needed);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  exchange_temporary(temporary_.c_str(), nullptr);
}

void OutputFile::open_beside(unsigned permissions) {
  const std::string folder = folder_of(target_);
  temporary_ = folder + "/.mha-XXXXXX";
  descriptor_ = make_temporary(temporary_);
  if (descriptor_ < 0) refuse_folder(path_, folder, errno);
  fchmod(descriptor_, permissions);  // some file systems have no permissions; that is no reason to fail
}

void OutputFile::open_straight() {
  descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse_target(path_, errno);
}

void OutputFile::make_room(std::int64_t size) {
  if (temporary_.empty())
    refuse_target(path_, {"this format is written at several places at a time, so it needs an ordinary file",
                          "这种格式要同时写在几处，因此需要普通文件"});
  if (ftruncate(descriptor_, size) != 0) refuse_target(path_, errno);
}

void OutputFile::write_at(std::int64_t begin, const void* bytes, std::size_t count) {
  for (const char* rest = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t written = failure_ == 0 ? pwrite(descriptor_, rest, count, begin) : -1;
    if (written < 0 && failure_ == 0 && errno == EINTR) continue;
    if (written < 0) {
      if (failure_ == 0) failure_ = errno;
      refuse_target(path_, failure_);
    }
    rest += written;
    begin += written;
    count -= static_cast<std::size_t>(written);
  }
}

void OutputFile::read_at(std::int64_t begin, void* bytes, std::size_t count) const {
  for (char* rest = static_cast<char*>(bytes); count > 0;) {
    const ssize_t found = pread(descriptor_, rest, count, begin);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) refuse_target(path_, found < 0 ? errno : EIO);
    rest += found;
    begin += found;
    count -= static_cast<std::size_t>(found);
  }
}

void OutputFile::complete() {
  if (descriptor_ < 0) return;
  if (failure_ != 0) refuse_target(path_, failure_);
  sink_->flush();
  if (close(std::exchange(descriptor_, -1)) != 0) refuse_target(path_, errno);
}

void OutputFile::commit() {
  complete();
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) refuse_folder(path_, folder_of(target_), errno);
  exchange_temporary(temporary_.c_str(), nullptr);
  temporary_.clear();
}

void commit_all(std::deque<OutputFile>& outputs) {
  for (OutputFile& output : outputs) output.complete();
  for (OutputFile& output : outputs) output.commit();
}

}  // namespace mha::io
