// What is wrong with an input, and where: line, column and JSON path.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "core/tensor.hpp"

namespace mha::io {

// Both from 1; columns count characters, not bytes.
struct Position {
  Index line = 1;
  Index column = 1;
};

// Thrown while one input is read, by code that does not know the input's name; whoever opened it makes an Error of it.
class InputFault : public std::runtime_error {
 public:
  // The path ("heads[1].W_Q[0]", from 0) is empty where there is no value to name.
  InputFault(Position position, std::string path, const std::string& sentence)
      : std::runtime_error(sentence), position_(position), path_(std::move(path)) {}

  Position position() const { return position_; }
  const std::string& path() const { return path_; }

 private:
  Position position_;
  std::string path_;
};

}  // namespace mha::io
