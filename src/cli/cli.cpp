// Finds the command, parses its options, runs it; the one place where errors are caught.
#include "cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.hpp"
#include "compute/cpu_variants.hpp"
#include "core/suggest.hpp"

namespace mha::cli {
namespace {

std::string overview() {
  std::string text =
      "mha: multi-head attention, step by step, with every number in the open\n\n"
      "usage: mha COMMAND [OPTIONS]\n\n";
  for (const Command& command : commands) text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  text +=
      "\n  mha COMMAND --help   the options of a command, with examples\n"
      "  mha --version        the version\n\n"
      "start here:\n"
      "  mha run                             the worked 3×4 example\n"
      "  mha examples worked > mine.json     a file to put your own numbers in\n"
      "  mha run mine.json -o trace.json     every step as JSON\n";
  return text;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  if (name.starts_with("-"))
    throw Error(fmt::format("expected a command before '{}'; `mha --help` lists the commands", name));
  throw Error(fmt::format("unknown command '{}'.{} `mha --help` lists the commands", name, did_you_mean(name, names)));
}

// Options are taken as they are written, so a long one that is not known may be a slip of the pen.
[[noreturn]] void refuse_leftovers(const CLI::App& app, const std::vector<std::string>& leftovers) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (!leftovers.front().starts_with('-'))
    throw Error(fmt::format("unexpected argument '{}'; `{} --help` says what is expected", as_written(leftovers.front()),
                            app.get_name()));
  const std::string name = leftovers.front().substr(0, leftovers.front().find('='));
  throw Error(
      fmt::format("unknown option '{}'.{} `{} --help` lists the options", name, did_you_mean(name, names), app.get_name()));
}

Exit run_command(const std::vector<std::string>& arguments, World& world) {
  const Command& command = find_command(arguments.front());
  CLI::App app{std::string(command.summary), "mha " + std::string(command.name)};
  app.allow_extras();
  const Action action = command.setup(app);
  std::vector<std::string> rest(arguments.rbegin(), arguments.rend() - 1);  // CLI11 takes them last first
  for (std::string& argument : rest) keep_as_written(argument);
  try {
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    world.out.write(app.help());
    return Exit::fine;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string option = std::string(error.what()).substr(0, std::string(error.what()).find(':'));
    throw Error(fmt::format("{}: it takes one value, and stands once; `{} --help` shows how", option, app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}; `{} --help` lists the options", error.what(), app.get_name()));
  }
  if (!app.remaining().empty()) refuse_leftovers(app, app.remaining());
  return action(world);
}

Exit dispatch(const std::vector<std::string>& arguments, World& world) {
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    world.out.write(overview());
    return Exit::fine;
  }
  if (first == "--version" || first == "-V") {
    world.out.write("mha " MHA_VERSION "\n");
    return Exit::fine;
  }
  compute::choose_cpu_variant(world.environment("MHA_CPU"));
  return run_command(arguments, world);
}

}  // namespace

int cli(const std::vector<std::string>& arguments, World& world) {
  const auto end = [&world](std::string_view sentence, Exit exit) {
    try {
      tell(world, sentence);
    } catch (...) {  // not even the message could be written
    }
    return static_cast<int>(exit);
  };
  try {
    const Exit exit = dispatch(arguments, world);
    world.out.flush();
    return static_cast<int>(exit);
  } catch (const io::ClosedPipe&) {  // whoever read our output has seen enough
    return static_cast<int>(Exit::fine);
  } catch (const Error& error) {
    return end(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    return end("not enough memory for this problem; fewer tokens or heads need less", Exit::bad_input);
  } catch (const std::exception& error) {
    return end(fmt::format("this went wrong in a way that mha does not know: {}", error.what()), Exit::bad_input);
  } catch (...) {
    return end("this went wrong in a way that mha does not know", Exit::bad_input);
  }
}

}  // namespace mha::cli
