// A file that is replaced whole or not at all.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "io/sink.hpp"

namespace mha {

// Writes into a temporary file beside the target, which commit() puts in the target's place; going without commit() leaves
// the target as it was. A link is followed, the permissions of an existing file are kept. What is no regular file (a pipe,
// a device) cannot be replaced and is written straight.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Sink& sink() { return *sink_; }

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
  std::optional<FdSink> sink_;
};

// All are complete before the first takes its place.
void commit_all(std::deque<OutputFile>& outputs);

}  // namespace mha
