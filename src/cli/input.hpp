// Which problem is meant: a file, standard input, or a built-in example.
#pragma once

#include <span>

#include "cli/world.hpp"
#include "show/pages/page_parts.hpp"

namespace mha::cli {

// `name` is a file, "-" for standard input, or the name of an example. Files with its matrices may lie outside its folder
// only with `allow_outside`. It and they are inputs of the world from then on.
Problem read_problem(const std::string& name, World& world, bool allow_outside = false);

// On stderr, what the person should know before trusting the numbers; of several problems under the name of each.
void warn_of(std::span<const Problem> problems, const show::PageOptions& page, World& world);

// The one that is named, else this example.
std::string one_problem(const std::vector<std::string>& names, const char* otherwise = "worked");

// Several, each called as its title says, else as it is named here.
std::vector<Problem> read_problems(const std::vector<std::string>& names, World& world, bool allow_outside);

// Each of these may be "-", but only one of them.
void refuse_two_standard_inputs(const std::vector<std::string>& names);

// Of the built-in ones, which come before files of their name.
bool is_example(const std::string& name);

// The JSON of a built-in example; an unknown name is an error that suggests one.
std::string_view example_text(const std::string& name);

}  // namespace mha::cli
