// The one exception for the person at the keyboard: a sentence, and the exit code that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace mha {

// The documented exit codes of the program.
enum class Exit { fine = 0, difference = 1, bad_input = 2, no_device = 3, no_output = 4 };

// Thrown at the edges, caught once in cli(). The text is one sentence (or two: the remedy) without the leading "mha: ".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence, Exit exit_code = Exit::bad_input)
      : std::runtime_error(sentence), exit_code_(exit_code) {}

  Exit exit_code() const { return exit_code_; }

 private:
  Exit exit_code_;
};

}  // namespace mha
