// The mistakes that take more than a line to make (who reads which part of a matrix, what a mask does), once more in plain
// loops. What all mistakes give is in tests/study/mistakes/mistake_numbers.txt.
#pragma once

#include "folders.hpp"

#include <functional>
#include <string_view>
#include <vector>

#include "study/mistakes/plain_attention.hpp"

namespace mha::test {

struct PlainMistake {
  std::string_view id;
  std::function<void(PlainSetting&)> make;  // on a problem on which it can be made
};

// One for each form of a mistake.
std::vector<PlainMistake> plain_mistakes();

}  // namespace mha::test
