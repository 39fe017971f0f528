// Starts $PAGER with a pipe and waits for it.
#include "cli/pager.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace mha::cli {
namespace {

constexpr int not_found = 127;  // the shell's exit code for a command that is not there

std::string pager_command() {
  const char* const wanted = std::getenv("PAGER");
  return wanted == nullptr ? "less" : wanted;
}

}  // namespace

bool wants_pager(int count, char** arguments) {
  const std::string command = pager_command();
  if (command.empty() || command == "cat") return false;
  if (const char* const terminal = std::getenv("TERM"); terminal == nullptr || std::string_view(terminal) == "dumb")
    return false;
  return std::none_of(arguments, arguments + count, [](const char* argument) {
    return std::string_view(argument) == "--no-pager" || std::string_view(argument) == "--pause";
  });
}

void Pager::write(std::string_view text) {
  text_ += text;
  if (pipe_ >= 0) return hand_over(text);
  if (child_ == 0 && std::count(text_.begin(), text_.end(), '\n') >= lines_ && start()) hand_over(text_);
}

bool Pager::start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  setenv("LESS", "FRX", 0);  // as git does: leaves what fits, shows colour, does not clear the screen
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  std::string command = pager_command();
  std::array<char, 3> shell = {'s', 'h', 0}, option = {'-', 'c', 0};
  std::array<char*, 4> arguments = {shell.data(), option.data(), command.data(), nullptr};
  const bool started = posix_spawnp(&child_, "sh", &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (!started) ::close(ends[1]);
  pipe_ = started ? ends[1] : -1;
  if (started) interrupt_ = std::signal(SIGINT, SIG_IGN), quit_ = std::signal(SIGQUIT, SIG_IGN);  // meant for the pager
  return started;
}

// Whoever leaves the pager has seen enough; the command goes on, so that its exit code is what it would have been.
void Pager::hand_over(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(pipe_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Pager::close() {
  int status = 0;
  if (pipe_ >= 0) {
    ::close(pipe_);
    pipe_ = -1;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != not_found) text_.clear();
  }
  try {
    terminal_.write(text_);
    terminal_.flush();
  } catch (...) {  // the terminal is gone
  }
  text_.clear();
}

}  // namespace mha::cli
