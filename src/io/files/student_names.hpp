// Whose an answer is, told by the names that learning platforms give to files and folders.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace mha::io {

struct Submitter {
  std::string name, id;  // the platform's number for this student; empty: there is none
};

// Moodle's "Anna Li_12345_assignsubmission_file_answer.json" and its folders, Canvas's
// "lianna_LATE_12345_67890_answer.json". A file that says no more than "answer.json" is that of its folder; another is
// called as it is, without the ending.
Submitter submitter_of(std::string_view path);

// Folder to name, of the folders beside each other in `folder`: from Gradescope's submission_metadata.yml, or the index.csv
// that `mha exercise --roster` writes. Empty where neither is there. Throws Error.
std::map<std::string, std::string> names_of_folders(const std::string& folder);

}  // namespace mha::io
