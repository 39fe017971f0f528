// Where answers are: files, folders of files, and files with one answer on each line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/problem/answer.hpp"

namespace mha::io {

// An answer that is not read yet.
struct AnswerSource {
  std::string name;              // the path as given, or that of the file in the folder, or FILE:LINE
  std::function<Answer()> read;  // throws Error
};

// In the order of the arguments; the files *.json and *.jsonl of a folder by name. "-" is the descriptor `standard_input`.
// What cannot be opened is found out when it is read; a folder without answers throws Error at once.
std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input);

}  // namespace mha::io
