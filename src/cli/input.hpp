// Which problem is meant: a file, standard input, or a built-in example.
#pragma once

#include <string>

#include "cli/world.hpp"
#include "core/problem.hpp"

namespace mha {

// `name` is a file, "-" for standard input, or the name of an example.
Problem read_problem(const std::string& name, World& world);

// The JSON of a built-in example; an unknown name is an error that suggests one.
std::string_view example_text(const std::string& name);

}  // namespace mha
