// Who the students are: a class list, and the names that learning platforms give to files and folders; and where their
// answers are: files, folders of files, a folder for each student, and files with one answer on each line.
#pragma once

#include <functional>

#include "io/problem/answer.hpp"

namespace mha::io {

struct Student {
  std::string name;       // unlike that of every other student: namesakes have their id, or else their e-mail, behind it
  std::string folder;     // the name, made safe for every file system, and unlike that of every other student
  std::string id, email;  // as the list has them; empty: it has none

  // "Li Wei" of "Li Wei (1003)".
  std::string plain_name() const;
};

// One student on each line that is not blank, in the first column, or in that which a header line ("name", "姓名", also
// "first name" and "last name") says. Columns are separated by commas, semicolons or tabs and may stand in double quotes.
// Throws Error.
std::vector<Student> read_roster(const std::string& path);

// The same from text; `file` is what messages call it.
std::vector<Student> parse_roster(std::string_view text, std::string_view file);

// With the folders that such a file says in its column "folder".
std::vector<Student> read_index(const std::string& path);

struct Submitter {
  std::string name, id;  // the platform's number for this student; empty: there is none
  auto operator<=>(const Submitter&) const = default;
};

// Moodle's "Anna Li_12345_assignsubmission_file_answer.json" and its folders, Canvas's
// "lianna_LATE_12345_67890_answer.json". A file that says no more than "answer.json" is that of its folder; another is
// called as it is, without the ending.
Submitter submitter_of(std::string_view path);

// Whose the folders beside each other in `folder` are, in the order of the list: from Gradescope's submission_metadata.yml,
// or the index.csv that `mha exercise --roster` writes. Empty where neither is there. Throws Error.
std::vector<Student> students_in(const std::string& folder);

// An answer that is not read yet.
struct AnswerSource {
  std::string name;              // the student's, unlike that of every other answer; empty: it stands in the answer
  std::string file;              // the path, or FILE:LINE
  std::function<Answer()> read;  // throws Error; null where nothing was handed in
  std::string problem = {};      // its own, a file; empty: that of all
  Student student = {};          // as the list has them, where it does
};

// In the order of the arguments. Of a folder its answers by name, as .json, .jsonl, .npz, .safetensors, .xlsx and, with
// `as`, .npy files, and .csv files that hold steps; and one of each folder in it, if any of them holds one. "-" is the
// descriptor `standard_input`; a .npy file holds the matrix `as`. What cannot be opened is found out when it is read; a
// folder without answers throws Error at once. What may have been meant for an answer, and is read as none, is added to
// `passed_over`.
std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input,
                                       const std::optional<std::string>& as = std::nullopt,
                                       std::vector<std::string>* passed_over = nullptr);

// Of each folder in `folder` that holds a problem.json, or of this one, the answer beside it: answer.json or answer.npz.
// Where answers were collected elsewhere, that of the student whose name, id or e-mail it has, the letters of Canvas's
// "lianna" in any order.
std::vector<AnswerSource> find_class(const std::string& folder, std::vector<AnswerSource> collected,
                                     std::vector<std::string>& passed_over);

}  // namespace mha::io
