// A class list: one student on each line of a CSV file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mha::io {

struct Student {
  std::string name;
  std::string folder;  // the name, made safe for every file system, and unlike that of every other student
};

// The first column of each line that is not blank; names may stand in double quotes. Throws Error.
std::vector<Student> read_roster(const std::string& path);

// The same from text; `file` is what messages call it.
std::vector<Student> parse_roster(std::string_view text, std::string_view file);

}  // namespace mha::io
