// Problem files: JSON in, a checked Problem out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace mha {

// Each throws Error: "NAME:LINE:COLUMN: PATH: what was found, what was expected, how to mend it".
Problem read_problem_file(const std::string& path);
Problem read_problem_fd(int fd, std::string_view name);  // standard input
Problem read_problem_text(std::string_view text, std::string_view name);

// The keys that each kind of object in a problem file knows; keys that start with _ and $schema stand everywhere.
struct KeySet {
  std::string_view object;
  std::vector<std::string_view> keys;
};
std::vector<KeySet> problem_keys();

}  // namespace mha
