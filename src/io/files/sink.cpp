// Writes to a descriptor until all is out: interrupted, short and refused writes each have their answer.
#include "io/files/sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;

// A terminal or pipe that another program has made non-blocking.
void wait_until_writable(int descriptor) {
  pollfd wanted{descriptor, POLLOUT, 0};
  poll(&wanted, 1, -1);
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

}  // namespace mha::io
