// How a command says what it takes, in CLI11's terms.
#include "cli/options.hpp"

#include <CLI/CLI.hpp>

namespace mha::cli {

void declare_option(CLI::App& app, const char* name, std::optional<std::string>& value, const char* type,
                    const char* help) {
  app.add_option(name, value, help)->type_name(type);
}

void declare_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                        const char* help) {
  app.add_option(name, values, help)->type_name(type)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void declare_flag(CLI::App& app, const char* name, bool& flag, const char* help) {
  app.add_flag(name, flag, help);
}

void declare_argument(CLI::App& app, const char* name, std::optional<std::string>& value, const char* help) {
  app.add_option(name, value, help);
}

void declare_arguments(CLI::App& app, const char* name, std::vector<std::string>& values, const char* help) {
  app.add_option(name, values, help);
}

void declare_footer(CLI::App& app, std::string_view text) {
  app.footer(std::string(text));
}

}  // namespace mha::cli
