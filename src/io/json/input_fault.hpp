// What is wrong with an input, and where: line, column and JSON path.
#pragma once

#include <concepts>
#include <stdexcept>

#include "core/tensor.hpp"
#include "core/text.hpp"

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
  template <std::same_as<Saying> Sentence>  // so that braces are a Text
  InputFault(Position position, std::string path, const Sentence& sentence)
      : std::runtime_error(sentence.en), position_(position), path_(std::move(path)), sentence_(sentence) {}
  template <typename... Parts>
  InputFault(Position position, std::string path, const Text& text, const Parts&... parts)
      : InputFault(position, std::move(path), say(text, parts...)) {}

  const Saying& sentence() const { return sentence_; }
  Position position() const { return position_; }
  const std::string& path() const { return path_; }

 private:
  Position position_;
  std::string path_;
  Saying sentence_;
};

}  // namespace mha::io
