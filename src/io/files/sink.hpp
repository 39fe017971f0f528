// Where text goes: into a string, out through a file descriptor, or into a file that is replaced whole or not at all; every
// failure told to the person.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

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

// Writes into a temporary file beside the target, which commit() puts in the target's place; going without commit() leaves
// the target as it was, and so does a signal that ends the program. A link is followed, the permissions of an existing file
// are kept. What is no regular file (a pipe, a device) cannot be replaced and is written straight. Throws Error.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Sink& sink() { return *sink_; }

  // At any place instead of one thing after another, and from several threads; not where sink() is used, and only where the
  // target is a regular file. make_room first, with the size that the file will have at least. What was not written
  // is told by complete() as well.
  void make_room(std::int64_t size);
  void write_at(std::int64_t begin, const void* bytes, std::size_t count);
  void read_at(std::int64_t begin, void* bytes, std::size_t count) const;  // of what was written

  // Everything is in the temporary file, closed and without an error.
  void complete();
  void commit();

 private:
  void open_beside(unsigned permissions);
  void open_straight();

  std::string path_;       // as the person wrote it
  std::string target_;     // what the links lead to
  std::string temporary_;  // empty: written straight, or nothing left to remove
  int descriptor_ = -1;
  std::atomic<int> failure_ = 0;  // the errno of a write_at
  std::optional<FdSink> sink_;
};

// All are complete before the first takes its place.
void commit_all(std::deque<OutputFile>& outputs);

}  // namespace mha::io
