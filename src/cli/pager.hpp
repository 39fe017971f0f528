// What is longer than the screen goes through $PAGER, as git does it.
#pragma once

#include <sys/types.h>

#include "io/files/sink.hpp"

namespace mha::cli {

// Standard output on a terminal of so many lines. Text is held back until it is known whether the screen holds it.
class Pager : public io::Sink {
 public:
  Pager(io::Sink& terminal, int lines) : terminal_(terminal), lines_(lines) {}
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  ~Pager() override { close(); }

  void write(std::string_view text) override;
  void flush() override {}  // at the end only
  // Shows what is there; returns when the person has seen enough. What the pager could not show goes to the terminal.
  void close();

 private:
  bool start();
  void hand_over(std::string_view text);

  io::Sink& terminal_;
  int lines_;
  std::string text_;  // all of it: a pager that is not there has shown nothing
  int pipe_ = -1;
  pid_t child_ = 0;
  void (*interrupt_)(int) = nullptr;
  void (*quit_)(int) = nullptr;
};

// Whether these arguments want one: not with --no-pager, nor with --pause, which shows a step at a time.
bool wants_pager(int count, char** arguments);

}  // namespace mha::cli
