// Files that are read. Touching a page behind the end of a mapped file that was cut short raises SIGBUS, which would end
// the program without a word; here such a page becomes zeros, and expect_whole() tells afterwards.
#include "io/files/input_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "io/files/paths.hpp"

namespace mha::io {
namespace {

// Where files are mapped, for the signal handler: it may not take a lock.
struct Region {
  std::atomic<std::uintptr_t> begin = 0;  // 0: this place is free
  std::atomic<std::uintptr_t> end = 0;
};
constexpr std::size_t most_regions = 1024;
std::array<Region, most_regions> regions;
std::mutex regions_mutex;
struct sigaction action_before;
std::uintptr_t page_size = 4096;

bool is_mapped_file(std::uintptr_t address) {
  for (const Region& region : regions)
    if (address >= region.begin.load() && address < region.end.load()) return true;
  return false;
}

// The instruction is tried again when this returns, and finds a page of zeros.
void on_bus_error(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  void* const page = static_cast<char*>(info->si_addr) - address % page_size;
  if (is_mapped_file(address) &&
      mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    return;
  sigaction(SIGBUS, &action_before, nullptr);  // another's fault: it happens again, and ends as it would have
}

void catch_bus_errors() {
  static const bool caught = [] {
    page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &action_before) == 0;
  }();
  static_cast<void>(caught);
}

bool add_region(const std::byte* data, std::size_t size) {
  const std::lock_guard lock(regions_mutex);
  for (Region& region : regions) {
    if (region.begin.load() != 0) continue;
    region.end = reinterpret_cast<std::uintptr_t>(data) + size;
    region.begin = reinterpret_cast<std::uintptr_t>(data);
    return true;
  }
  return false;
}

void remove_region(const std::byte* data) {
  const std::lock_guard lock(regions_mutex);
  for (Region& region : regions)
    if (region.begin.load() == reinterpret_cast<std::uintptr_t>(data)) region.begin = 0, region.end = 0;
}

// Opening a device may have effects, so this is asked before.
const std::string& regular(const std::string& path) {
  if (const auto status = status_of(path); status && !S_ISREG(status->st_mode))
    throw Error({"{}: this is {}; matrices are read from ordinary files", "{}：这是{}；矩阵从普通文件中读取"}, path,
                S_ISDIR(status->st_mode) ? Text{"a folder", "文件夹"} : Text{"no ordinary file", "特殊文件"});
  return path;
}

}  // namespace

Error named(std::string_view name, const InputFault& fault) {
  const auto [line, column] = fault.position();
  const std::string path = fault.path().empty() ? "" : fault.path() + ": ";
  return Error({"{}:{}:{}: {}{}", "{}:{}:{}: {}{}"}, name, line, column, path, fault.sentence());
}

Saying system_says(int code) {
  const auto in_chinese = [code]() -> std::string_view {
    switch (code) {
      case ENOENT: return "没有这个文件或文件夹";
      case EACCES:
      case EPERM: return "没有权限";
      case EISDIR: return "这是文件夹";
      case ENOTDIR: return "路径中有一段不是文件夹";
      case ENOSPC: return "磁盘已满";
      case EROFS: return "文件系统是只读的";
      case ENAMETOOLONG: return "文件名太长";
      case ELOOP: return "符号链接成环";
      case EIO: return "输入输出错误";
      case EFBIG: return "文件太大";
      case EPIPE: return "管道已关闭";
      case EMFILE:
      case ENFILE: return "打开的文件太多";
      case EEXIST: return "已有同名的文件";
      case ENOTEMPTY: return "文件夹不是空的";
      case EBUSY:
      case ETXTBSY: return "文件正在使用";
      case EDQUOT: return "磁盘配额已用完";
      case ENOMEM: return "内存不足";
      case EINVAL: return "这种文件不支持此操作";
      case ENXIO:
      case ENODEV: return "没有这个设备";
      case EXDEV: return "不在同一个文件系统";
      case EAGAIN: return "暂时没有数据";
      case EINTR: return "被中断";
      case ESTALE:
      case ETIMEDOUT: return "网络上的文件没有响应";
      default: return {};
    }
  };
  const std::string said = std::generic_category().message(code);
  return {said, in_chinese().empty() ? fmt::format("系统错误 {}", code) : std::string(in_chinese())};
}

Error named(std::string_view name, int code) {
  switch (code) {
    case ENOENT: return Error({"{}: there is no such file; check the path", "{}：没有这个文件；请检查路径"}, name);
    case EISDIR: return Error({"{}: this is a directory; name a file in it", "{}：这是文件夹；请写其中的文件"}, name);
    case EACCES:
      return Error({"{}: no permission to read it; allow it with chmod +r", "{}：没有读取权限；可以用 chmod +r 允许"},
                   name);
    default: return Error({"{}: cannot be read: {}", "{}：无法读取：{}"}, name, system_says(code));
  }
}

InputFile::InputFile(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw named(path, errno);
}

InputFile::~InputFile() {
  ::close(fd_);
}

struct stat InputFile::status() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0) throw named(path_, errno);
  return status;
}

std::string InputFile::text() const {
  constexpr std::size_t at_a_time = 64 * 1024;
  std::string text;
  for (std::size_t length = 0;;) {
    text.resize(length + at_a_time);
    const ssize_t got = ::read(fd_, text.data() + length, at_a_time);
    if (got < 0 && errno != EINTR) throw named(path_, errno);
    length += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    text.resize(length);
    if (got == 0) return text;
  }
}

std::string InputFile::bytes_at(Index from, Index count) const {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(fd_, bytes.data() + done, bytes.size() - done, from + static_cast<Index>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw named(path_, errno);
    if (got == 0) throw Error({"{}: the file became shorter while it was read", "{}：读取时文件变短了"}, path_);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

MappedFile::MappedFile(const std::string& path)
    : file_(regular(path)), size_(static_cast<std::size_t>(file_.status().st_size)) {
  if (size_ == 0) return;
  void* const data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_.fd(), 0);
  if (data == MAP_FAILED) throw named(path, errno);
  data_ = static_cast<const std::byte*>(data);
  catch_bus_errors();
  if (add_region(data_, size_)) return;
  munmap(data, size_);
  throw Error({"{}: more than {} files with matrices are open; put them into fewer",
               "{}：打开的矩阵文件超过 {} 个；请放在较少的文件里"},
              path, most_regions);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  remove_region(data_);
  munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::expect_whole() const {
  if (static_cast<std::size_t>(file_.status().st_size) < size_)
    throw Error({"{}: the file was cut short while it was read; run again when it is complete",
                 "{}：读取时文件被截断；等文件完整后再运行"},
                file_.path());
}

}  // namespace mha::io
