// The program as a function: arguments in, exit code out.
#pragma once

#include "cli/world.hpp"

namespace mha::cli {

// `arguments` without the program's name. Every failure is told on world.err; nothing is thrown.
int cli(const std::vector<std::string>& arguments, World& world);

}  // namespace mha::cli
