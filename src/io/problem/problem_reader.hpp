// Problem files: JSON in, a checked Problem out; and the files that travel inside the binary, examples and JSON Schemas.
#pragma once

#include <span>

#include "core/problem.hpp"

namespace mha::io {

// Each throws Error: "NAME:LINE:COLUMN: PATH: what was found, what was expected, how to mend it". Matrices may stand in
// files of the problem's folder, for standard input in the current one, and elsewhere only with `allow_outside`; a text has
// no folder, so there they must stand in it.
Problem read_problem_file(const std::string& path, bool allow_outside = false);
Problem read_problem_fd(int fd, std::string_view name, bool allow_outside = false);  // standard input
Problem read_problem_text(std::string_view text, std::string_view name);

// "sum", "mse:FILE", …: the loss of this problem's result, its matrix from a JSON, .npy, … file. Throws Error.
Loss loss_named(std::string_view text, const Problem& problem);

// The keys that each kind of object in a problem file knows; keys that start with _ and $schema stand everywhere.
struct KeySet {
  Text object;
  std::span<const std::string_view> keys;
};
std::span<const KeySet> problem_keys();

struct EmbeddedFile {
  std::string_view name;  // without folder and ending
  std::string_view text;
};

std::span<const EmbeddedFile> examples();  // data/*.json, by name
std::span<const EmbeddedFile> schemas();   // data/schemas/*.schema.json

}  // namespace mha::io
