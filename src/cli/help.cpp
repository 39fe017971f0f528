// What --help prints: the commands, and the options of one.
#include "cli/command_line.hpp"

#include "cli/commands.hpp"
#include "show/text/wrap.hpp"

namespace mha::cli {
namespace {

constexpr int help_width = 80;
constexpr int help_column = 26;

// What stands for a value.
constexpr std::array placeholders = {
    Text{"PROBLEM", "题目"}, Text{"ANSWER", "答卷"}, Text{"ENTRY", "元素"},  Text{"MODEL", "模型"},
    Text{"FILE", "文件"},    Text{"DIR", "文件夹"},  Text{"LIST", "列表"},   Text{"NAME", "名称"},
    Text{"NAMES", "名称"},   Text{"ID", "标识"},     Text{"POINTS", "分值"}, Text{"TEXT", "文本"},
};

std::string placeholder(std::string_view name, Language language) {
  for (const Text& row : placeholders)
    if (row.en == name) return std::string(row.in(language));
  return std::string(name);
}

// "  --steps LIST            show and export only these steps, such as
//                           scores,weights"
std::string row(const std::string& name, std::string_view what, int column) {
  std::string text = "  " + show::pad_right(name, column - 4) + "  ";
  if (show::display_width(name) > column - 4)
    text = "  " + name + "\n" + std::string(static_cast<std::size_t>(column), ' ');
  bool first = true;
  for (const std::string& line : show::fill(show::pieces_of(what), help_width - column)) {
    if (!first) text += std::string(static_cast<std::size_t>(column), ' ');
    text += line + "\n";
    first = false;
  }
  return text;
}

// Paragraphs in the width of the page; examples, which are set in, as they are.
std::string filled(std::string_view text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view paragraph = text.substr(start, end - start);
    if (paragraph.starts_with(' '))
      result += std::string(paragraph) + "\n";
    else
      for (const std::string& line : show::fill(show::pieces_of(paragraph), help_width)) result += line + "\n";
    start = end + 1;
  }
  return result;
}

std::string argument_name(const CLI::Option& option, Language language) {
  return placeholder(option.get_name(true), language) + (option.get_items_expected_max() > 1 ? "…" : "");
}

std::string option_name(const CLI::Option& option, Language language) {
  std::string name;
  for (const std::string& letter : option.get_snames()) name += "-" + letter + ", ";
  for (const std::string& word : option.get_lnames()) name += "--" + word;
  const std::string type = option.get_type_name();
  return type.empty() ? name : name + " " + placeholder(type, language);
}

}  // namespace

std::string overview(Language language) {
  std::string text(
      Text{"mha: multi-head attention, step by step, with every number in the open\n\n"
           "usage: mha COMMAND [OPTIONS]\n\n",
           "mha：多头注意力，逐步计算，每个数都看得见\n\n"
           "用法：mha 命令 [选项]\n\n"}
          .in(language));
  for (const Command& command : commands) text += row(std::string(command.name), command.summary.in(language), 12);
  return text +=
         Text{
             "\n"
             "  mha COMMAND --help   the options of a command, with examples\n"
             "  mha --version        the version\n\n"
             "start here:\n"
             "  mha run                             the worked 3×4 example\n"
             "  mha examples worked > mine.json     a file to put your own numbers in\n"
             "  mha run mine.json -o trace.json     every step as JSON\n",
             "\n"
             "  mha 命令 --help      一个命令的选项，附示例\n"
             "  mha --version        版本\n\n"
             "从这里开始：\n"
             "  mha run                             3×4 手算示例\n"
             "  mha examples worked > mine.json     写入自己的数的文件\n"
             "  mha run mine.json -o trace.json     每一步写成 JSON\n"}
             .in(language);
}

std::string help_of(const CommandLine& app) {
  const Language language = app.language;
  std::string usage, arguments, options;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string name = positional ? argument_name(*option, language) : option_name(*option, language);
    (positional ? arguments : options) += row(name, option->get_description(), help_column);
    if (positional) usage += " [" + name + "]";
  }
  std::string text = app.get_description() + "\n\n" +
                     say(language, {"usage: {} [OPTIONS]{}\n", "用法：{} [选项]{}\n"}, app.get_name(), usage);
  if (!arguments.empty())
    text += say(language, {"\n"
                           "arguments:\n",
                           "\n"
                           "参数：\n"}) +
            arguments;
  text += say(language, {"\n"
                         "options:\n",
                         "\n"
                         "选项：\n"}) +
          options;
  if (!app.get_footer().empty()) text += "\n" + filled(app.get_footer());
  return text;
}

}  // namespace mha::cli
