// Which problem is meant: a file, standard input, or a built-in example.
#pragma once

#include <string>

#include "cli/world.hpp"
#include "core/problem.hpp"

namespace CLI {
class App;
}

namespace mha::cli {

// --allow-outside, for every command that reads a problem.
void declare_allow_outside(CLI::App& app, bool& allow_outside);

// `name` is a file, "-" for standard input, or the name of an example. Files with its matrices may lie outside its folder
// only with `allow_outside`.
Problem read_problem(const std::string& name, World& world, bool allow_outside = false);

// The JSON of a built-in example; an unknown name is an error that suggests one.
std::string_view example_text(const std::string& name);

}  // namespace mha::cli
