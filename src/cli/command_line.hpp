// The options of a command as CLI11 has them, and its help. Only options.cpp, help.cpp and cli.cpp include it: CLI11 is
// slow to compile.
#pragma once

#include <CLI/CLI.hpp>

#include "core/text.hpp"

namespace mha::cli {

class CommandLine : public CLI::App {
 public:
  CommandLine(const Saying& summary, std::string name, Language told_in)
      : CLI::App(summary.in(told_in), std::move(name)), language(told_in) {}

  Language language;
};

// All commands.
std::string overview(Language language);

// One command: what it takes, and examples. CLI11's own differs between its versions and speaks English.
std::string help_of(const CommandLine& app);

}  // namespace mha::cli
