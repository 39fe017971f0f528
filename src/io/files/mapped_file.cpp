// A file in memory. Touching a page behind the end of a file that was cut short raises SIGBUS, which would end the program
// without a word; here such a page becomes zeros, and expect_whole() tells afterwards.
#include "io/files/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>

#include "core/error.hpp"

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
struct sigaction earlier_action;
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
  sigaction(SIGBUS, &earlier_action, nullptr);  // another's fault: it happens again, and ends as it would have
}

void catch_bus_errors() {
  static const bool caught = [] {
    page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &earlier_action) == 0;
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

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

int opened(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // nobody may write into a pipe
  if (descriptor >= 0) return descriptor;
  if (errno == ENOENT) throw Error(fmt::format("{}: there is no such file; check the path", path));
  if (errno == EACCES) throw Error(fmt::format("{}: no permission to read it; allow it with chmod +r", path));
  refuse(path, errno);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))  // opening a device may have effects
    throw Error(fmt::format("{}: this is {}; matrices are read from ordinary files", path,
                            S_ISDIR(status.st_mode) ? "a folder" : "no ordinary file"));
  descriptor_ = opened(path);
  try {
    if (fstat(descriptor_, &status) != 0) refuse(path, errno);
    if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: this is no ordinary file any more", path));
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    void* const data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (data == MAP_FAILED) refuse(path, errno);
    data_ = static_cast<const std::byte*>(data);
    catch_bus_errors();
    if (add_region(data_, size_)) return;
    munmap(data, size_);
    throw Error(fmt::format("{}: more than {} files with matrices are open; put them into fewer", path, most_regions));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    remove_region(data_);
    munmap(const_cast<std::byte*>(data_), size_);
  }
  ::close(descriptor_);
}

void MappedFile::expect_whole() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) refuse(path_, errno);
  if (static_cast<std::size_t>(status.st_size) < size_)
    throw Error(fmt::format("{}: the file was cut short while it was read; run again when it is complete", path_));
}

}  // namespace mha::io
