// Finds the command, parses its options, runs it; the one place where errors are caught.
#include "cli/world.hpp"

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "compute/cpu_variants.hpp"
#include "core/suggest.hpp"

namespace mha::cli {
namespace {

const Command& find_command(const std::string& name) {
  for (const Command& command : commands)
    if (command.name == name) return command;
  if (name.starts_with("-"))
    throw Error(
        {"expected a command before '{}'; `mha --help` lists the commands", "'{}' 前面应有命令；`mha --help` 列出全部命令"},
        name);
  throw Error({"unknown command '{}'.{} `mha --help` lists the commands", "没有命令 '{}'。{}`mha --help` 列出全部命令"},
              name, did_you_mean(name, column_of(commands, &Command::name)));
}

// Options are taken as they are written, so a long one that is not known may be a slip of the pen.
[[noreturn]] void refuse_leftovers(const CommandLine& app, const std::vector<std::string>& leftovers) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (!leftovers.front().starts_with('-'))
    throw Error(
        {"unexpected argument '{}'; `{} --help` says what is expected", "多余的参数 '{}'；`{} --help` 说明需要什么"},
        as_written(leftovers.front()), app.get_name());
  const std::string name = leftovers.front().substr(0, leftovers.front().find('='));
  throw Error({"unknown option '{}'.{} `{} --help` lists the options", "没有选项 '{}'。{}`{} --help` 列出全部选项"}, name,
              did_you_mean(name, names), app.get_name());
}

// What CLI11 finds wrong, in our words: all values are texts, so that only their number can be.
[[noreturn]] void refuse_parse(const CommandLine& app, const CLI::ParseError& error) {
  std::string said = fmt::format(" {} ", error.what());  // "--as: 1 required …", "… not an allowed value for full"
  std::replace_if(
      said.begin(), said.end(), [](char c) { return c == ':' || c == ','; }, ' ');
  const CLI::Option* meant = nullptr;
  std::string name;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& known : option->get_lnames())
      for (const char* begin : {" ", "--"})
        if (said.find(begin + known + " ") != std::string::npos) meant = option, name = known;
  if (meant != nullptr && meant->get_items_expected_max() == 0)
    throw Error({"{}: it takes no value; `{} --help` shows how", "{}：它没有值；`{} --help` 说明写法"}, "--" + name,
                app.get_name());
  throw Error({"{}: it takes one value, and stands once; `{} --help` shows how",
               "{}：应有一个值，而且只出现一次；`{} --help` 说明写法"},
              "--" + name, app.get_name());
}

Exit run_command(const std::vector<std::string>& arguments, World& world) {
  const Command& command = find_command(arguments.front());
  CommandLine app(say(command.summary), "mha " + std::string(command.name), world.language);
  app.allow_extras();
  app.set_help_flag("-h,--help", say(world.language, {"print this help", "打印本说明"}));
  const Action action = command.setup(app);
  bool no_pager = false;  // main() has seen to it
  declare_flag(app, "--no-pager", no_pager,
               {"on a terminal: print long pages at once, not through $PAGER", "在终端上：长页面直接打印，不经过 $PAGER"});
  std::vector<std::string> rest(arguments.rbegin(), arguments.rend() - 1);  // CLI11 takes them last first
  for (std::string& argument : rest) keep_as_written(argument);
  try {
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    world.out.write(help_of(app));
    return Exit::fine;
  } catch (const CLI::ParseError& error) {
    refuse_parse(app, error);
  }
  if (!app.remaining().empty()) refuse_leftovers(app, app.remaining());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (option->count() > 0)
        world.given.insert(world.given.end(), {"--" + name, "--" + name + " " + option->results()[0]});
  return action(world);
}

Exit dispatch(const std::vector<std::string>& arguments, World& world) {
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    world.out.write(overview(world.language));
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
  world.language = language_of(arguments, world);
  world.inputs.clear();
  world.given.clear();
  const auto end = [&world](Exit exit, const Saying& sentence) {
    try {
      tell_line(world, sentence.in(world.language));
    } catch (...) {  // not even the message could be written
    }
    return static_cast<int>(exit);
  };
  constexpr Text unforeseen = {"this went wrong in a way that mha does not know: {}", "出现了 mha 不认识的错误：{}"};
  try {
    const Exit exit = dispatch(arguments, world);
    world.out.flush();
    return static_cast<int>(exit);
  } catch (const io::ClosedPipe&) {  // whoever read our output has seen enough
    return static_cast<int>(Exit::fine);
  } catch (const Error& error) {
    return end(error.exit_code(), error.sentence());
  } catch (const std::bad_alloc&) {
    return end(Exit::bad_input, {"not enough memory for this problem; fewer tokens or heads need less",
                                 "内存不够计算这道题；词元或头少一些就够"});
  } catch (const std::exception& error) {
    return end(Exit::bad_input, say(unforeseen, error.what()));
  } catch (...) {
    return end(Exit::bad_input, {"this went wrong in a way that mha does not know", "出现了 mha 不认识的错误"});
  }
}

}  // namespace mha::cli
