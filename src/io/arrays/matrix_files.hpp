// Matrices in files: finds {"file": …} in a problem, opens what it names and puts the array in its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/tree.hpp"

namespace mha::io {

// Where paths in a problem lead.
struct FileRules {
  std::optional<std::string> folder;  // that of the problem file; none: there are no files to lead to
  bool allow_outside = false;         // of the folder
};

// Below the root, every object with the key "file" becomes a grid whose numbers are in the file still; shapes and types are
// known and checked, numbers are not read. `name` is the problem's, for messages about numbers. Gives the paths of the
// files that were opened. Throws InputFault.
std::vector<std::string> open_matrix_files(Node& root, std::string_view name, const FileRules& rules);

}  // namespace mha::io
