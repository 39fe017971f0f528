// The one exception for the person at the keyboard: a sentence, and the exit code that goes with it.
#pragma once

#include <concepts>
#include <stdexcept>

#include "core/text.hpp"

namespace mha {

// The documented exit codes of the program.
enum class Exit { fine = 0, difference = 1, bad_input = 2, no_device = 3, no_output = 4 };

// Thrown at the edges, caught once in cli(): one sentence (or two: the remedy) without the leading "mha: ", in both
// languages; what() is the English one.
class Error : public std::runtime_error {
 public:
  template <std::same_as<Saying> Sentence>  // so that braces are a Text
  explicit Error(const Sentence& sentence, Exit exit_code = Exit::bad_input)
      : std::runtime_error(sentence.en), sentence_(sentence), exit_code_(exit_code) {}
  template <typename... Parts>
  explicit Error(const Text& text, const Parts&... parts) : Error(say(text, parts...)) {}

  const Saying& sentence() const { return sentence_; }
  Exit exit_code() const { return exit_code_; }

 private:
  Saying sentence_;
  Exit exit_code_;
};

}  // namespace mha
