// A class list: one student on each line of a CSV file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mha::io {

struct Student {
  std::string name;
  std::string folder;  // the name, made safe for every file system, and unlike that of every other student
};

// One student on each line that is not blank, in the first column, or in that which a header line ("name", "姓名", also
// "first name" and "last name") says. Columns are separated by commas, semicolons or tabs and may stand in double quotes.
// Throws Error.
std::vector<Student> read_roster(const std::string& path);

// The same from text; `file` is what messages call it.
std::vector<Student> parse_roster(std::string_view text, std::string_view file);

// Folder to name, from the columns "folder" and "name" of such a file.
std::map<std::string, std::string> read_index(const std::string& path);

}  // namespace mha::io
