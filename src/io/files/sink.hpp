// Where text goes: into a string, or out through a file descriptor, every failure told to the person.
#pragma once

#include "core/text.hpp"

namespace mha::io {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string_view text) = 0;
  // What was written is out when this returns.
  virtual void flush() {}
};

class StringSink : public Sink {
 public:
  void write(std::string_view text) override { text_.append(text); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Whoever read our output has gone (`mha run | head -1`). No Error: there is nothing to tell, the program just ends.
// Thrown only where SIGPIPE is ignored; otherwise the signal ends the program as quietly.
struct ClosedPipe {};

// Does not own the descriptor. What is not flushed when the sink goes is lost: only flush() can report a full disk.
class FdSink : public Sink {
 public:
  enum class Reader { may_go, is_needed };  // whether a closed pipe is a ClosedPipe or an Error

  // `name` is what messages call the descriptor: a path, or "standard output".
  FdSink(int descriptor, Saying name, Reader reader = Reader::may_go);
  void write(std::string_view text) override;
  void flush() override;

 private:
  void write_all(std::string_view text);

  int descriptor_;
  Saying name_;
  Reader reader_;
  std::string buffer_;
};

}  // namespace mha::io
