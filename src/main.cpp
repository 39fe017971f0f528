// The program: the world as it is, handed to cli().
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/pager.hpp"
#include "cli/world.hpp"

namespace {

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

// Where a standard descriptor is closed, the next file that is opened would get its number, and messages would land in it.
void open_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) == -1) open("/dev/null", O_RDWR);  // takes the lowest number that is free
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an error of write(), which ends the program quietly
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a limit on the size of files
  mha::io::FdSink out(STDOUT_FILENO, {"standard output", "标准输出"});
  mha::io::FdSink err(STDERR_FILENO, {"standard error", "标准错误"});
  const winsize size = terminal_size();
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  mha::cli::Pager pager(out, size.ws_row);
  const bool paged = on_terminal && size.ws_row > 0 && mha::cli::wants_pager(argc, argv);
  mha::cli::World world{paged ? static_cast<mha::io::Sink&>(pager) : out,
                        err,
                        STDIN_FILENO,
                        isatty(STDIN_FILENO) == 1,
                        on_terminal,
                        size.ws_col >= 40 ? size.ws_col : 80,
                        [](const char* name) {
                          const char* value = std::getenv(name);
                          return std::string(value == nullptr ? "" : value);
                        },
                        isatty(STDERR_FILENO) == 1};
  const int exit = mha::cli::cli({argv + 1, argv + argc}, world);
  pager.close();
  return exit;
}
