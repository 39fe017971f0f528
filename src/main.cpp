// The program: the world as it is, handed to cli().
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/cli.hpp"

namespace {

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an error of write(), which ends the program quietly
  mha::io::FdSink out(STDOUT_FILENO, "standard output");
  mha::io::FdSink err(STDERR_FILENO, "standard error");
  mha::cli::World world{out,
                   err,
                   STDIN_FILENO,
                   isatty(STDIN_FILENO) == 1,
                   isatty(STDOUT_FILENO) == 1,
                   terminal_width(),
                   [](const char* name) {
                     const char* value = std::getenv(name);
                     return std::string(value == nullptr ? "" : value);
                   },
                   isatty(STDERR_FILENO) == 1};
  return mha::cli::cli({argv + 1, argv + argc}, world);
}
