// What --help prints.
#pragma once

#include <string>

#include "core/text.hpp"

namespace mha::cli {

class CommandLine;

// All commands.
std::string overview(Language language);

// One command: what it takes, and examples. CLI11's own differs between its versions and speaks English.
std::string help_of(const CommandLine& app);

}  // namespace mha::cli
