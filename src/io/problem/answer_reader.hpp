// Answer files: JSON in, the person's matrices out, as a trace has them or flat.
#pragma once

#include <string>
#include <string_view>

#include "io/problem/answer.hpp"

namespace mha::io {

// Each throws Error where the text cannot be read as matrices of numbers. A matrix of nothing but null is one that was not
// filled in, and is left out; null elsewhere is a blank entry, but −∞ in masked scores, as JavaScript writes it.
Answer read_answer_file(const std::string& path);
Answer read_answer_fd(int fd, std::string_view name);  // standard input
// One line of a file, whose `line` counts from 1; the answer takes the name that stands in it.
Answer read_answer_line(std::string_view text, std::string_view file, Index line);

}  // namespace mha::io
