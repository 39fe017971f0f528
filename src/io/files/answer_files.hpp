// Where answers are: files, folders of files, a folder for each student, and files with one answer on each line.
#pragma once

#include <functional>

#include "io/problem/answer.hpp"

namespace mha::io {

// An answer that is not read yet.
struct AnswerSource {
  std::string name;              // the student's, unlike that of every other answer; empty: it stands in the answer
  std::string file;              // the path, or FILE:LINE
  std::function<Answer()> read;  // throws Error; null where nothing was handed in
  std::string problem = {};      // its own, a file; empty: that of all
};

// In the order of the arguments. Of a folder its answers by name, as .json, .jsonl, .npz, .safetensors and, with `as`, .npy
// files; where there are none, one of each folder in it. "-" is the descriptor `standard_input`; a .npy file holds the
// matrix `as`. What cannot be opened is found out when it is read; a folder without answers throws Error at once.
std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input,
                                       const std::optional<std::string>& as = std::nullopt);

// Of each folder in `folder` that holds a problem.json, or of this one, the answer beside it: answer.json or answer.npz.
// Where answers were collected elsewhere, that of the student whose name it has, the letters of Canvas's "lianna" in any
// order.
std::vector<AnswerSource> find_class(const std::string& folder, std::vector<AnswerSource> collected);

}  // namespace mha::io
