// How a command says what it takes. Everything arrives as it is written and is read strictly by cli/values.hpp: CLI11 would
// take `nan`, octal numbers and empty lists. Only options.cpp and cli.cpp include CLI11, which is slow to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace mha::cli {

// An option with one value, which `type` names.
void declare_option(CLI::App& app, const char* name, std::optional<std::string>& value, const char* type, const char* help);

// One that may stand several times, with one value each time.
void declare_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                        const char* help);

void declare_flag(CLI::App& app, const char* name, bool& flag, const char* help);

// What stands without a dash: at most one, or any number of them.
void declare_argument(CLI::App& app, const char* name, std::optional<std::string>& value, const char* help);
void declare_arguments(CLI::App& app, const char* name, std::vector<std::string>& values, const char* help);

// Stands below the options in a command's help.
void declare_footer(CLI::App& app, std::string_view text);

}  // namespace mha::cli
