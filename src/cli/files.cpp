// The problem that is meant, read; and the one thing that a command tells, written.
#include "cli/files.hpp"

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "compute/cost.hpp"
#include "compute/engine.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "io/files/paths.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::cli {
namespace {

constexpr double operations_for_a_warning = 2e7;

const io::EmbeddedFile* find_example(const std::string& name) {
  for (const io::EmbeddedFile& example : io::examples())
    if (example.name == name) return &example;
  return nullptr;
}

Saying suggestion(const std::string& name) {
  return did_you_mean(name, column_of(io::examples(), &io::EmbeddedFile::name));
}

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

Problem problem_of(const std::string& name, World& world, bool allow_outside) {
  if (name == "-") {
    if (world.input_is_terminal)
      tell(world, {"reading the problem from standard input; end it with Ctrl-D", "正从标准输入读取题目；按 Ctrl-D 结束"});
    return io::read_problem_fd(world.input, "-", allow_outside);
  }
  if (const io::EmbeddedFile* example = find_example(name)) {
    if (exists(name))
      tell(world,
           {"'{0}' is the built-in example here; write ./{0} for the file", "'{0}' 在这里指内置示例；要用文件请写 ./{0}"},
           name);
    return io::read_problem_text(example->text, name);
  }
  if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) && !exists(name))
    throw Error({"there is no file called '{}'; if it belongs to a list, a list is one argument: write --heads 1,2",
                 "没有叫 '{}' 的文件；如果它属于一个列表，列表应为一个参数：请写 --heads 1,2"},
                name);
  const bool looks_like_path = name.find('/') != std::string::npos || name.find('.') != std::string::npos;
  if (!looks_like_path && !exists(name))
    throw Error({"there is no file and no example called '{}'.{} `mha examples` lists the examples",
                 "没有叫 '{}' 的文件或示例。{}`mha examples` 列出全部示例"},
                name, suggestion(name));
  return io::read_problem_file(name, allow_outside);
}

// Hands over every key at once, without an Enter, until it is given up; keys that end or stop a program are keys as well,
// so that none leaves the terminal in this state.
class KeyByKey {
 public:
  explicit KeyByKey(int terminal) : terminal_(terminal), is_set_(tcgetattr(terminal, &before_) == 0) {
    if (!is_set_) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    tcsetattr(terminal_, TCSANOW, &keys);
  }
  ~KeyByKey() {
    if (is_set_) tcsetattr(terminal_, TCSANOW, &before_);
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

 private:
  int terminal_;
  termios before_{};
  bool is_set_;
};

// The next key that means something: Enter, q, or one that ends the program; 0 at the end of the input.
char next_key(int terminal) {
  const KeyByKey keys(terminal);
  char key = 0;
  while (read(terminal, &key, 1) == 1)
    if (std::string_view("\n\rqQ\x03\x04\x1c").find(key) != std::string_view::npos) return key;
  return 0;
}

bool wants_more(int terminal) {
  const char key = next_key(terminal);
  if (key == 0x03) std::raise(SIGINT);
  if (key == 0x1c) std::raise(SIGQUIT);
  return key == '\n' || key == '\r';
}

}  // namespace

bool is_example(const std::string& name) {
  return find_example(name) != nullptr;
}

std::string_view example_text(const std::string& name) {
  if (const io::EmbeddedFile* example = find_example(name)) return example->text;
  throw Error(
      {"no example is called '{}'.{} `mha examples` lists them", "没有叫 '{}' 的示例。{}`mha examples` 列出全部示例"}, name,
      suggestion(name));
}

Problem read_problem(const std::string& name, World& world, bool allow_outside) {
  Problem problem = problem_of(name, world, allow_outside);
  if (!is_example(name)) world.inputs.push_back(name);
  world.inputs.insert(world.inputs.end(), problem.files.begin(), problem.files.end());
  return problem;
}

void warn_of(const Problem& problem, const Plan& plan, const Trace& trace, const show::PageOptions& page, World& world,
             bool by_name) {
  for (const std::string& warning : show::warnings(problem, plan, trace, page))
    tell_line(world, (by_name ? problem.name + ": " : "") + warning);
}

void warn_of(std::span<const Problem> problems, const show::PageOptions& page, World& world) {
  for (const Problem& problem : problems) {
    const Plan plan = make_plan(problem);
    Trace trace;
    trace.values.resize(plan.values.size());
    if (compute::operations(plan) < operations_for_a_warning) {
      compute::RunOptions options;
      options.keep = compute::values_to_keep(plan, Selection{}, false);
      trace = compute::run(plan, options);
    }
    warn_of(problem, plan, trace, page, world, problems.size() > 1);
  }
}

std::string one_problem(const std::vector<std::string>& names, const char* otherwise) {
  if (names.size() > 1)
    throw Error(
        {"one problem at a time, but '{}' and '{}' were given; a list is one argument: write --heads 1,2 or --steps Q,K",
         "一次只能有一道题目，而这里给出了 '{}' 和 '{}'；列表应为一个参数：请写 --heads 1,2 或 --steps Q,K"},
        names[0], names[1]);
  return names.empty() ? otherwise : names.front();
}

std::vector<Problem> read_problems(const std::vector<std::string>& names, World& world, bool allow_outside) {
  refuse_two_standard_inputs(names);
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    Problem& problem = problems.emplace_back(read_problem(name, world, allow_outside));
    if (problem.title.empty()) problem.title.en = name;
  }
  return problems;
}

void refuse_two_standard_inputs(const std::vector<std::string>& names) {
  if (std::count(names.begin(), names.end(), "-") > 1)
    throw Error({"standard input can be read once only; write - for one of the inputs, and a file for the others",
                 "标准输入只能读一次；只有一个输入可以写 -，其他请写文件"});
}

void declare_output(CommandLine& app, OutputTexts& texts, Kinds kinds) {
  declare_format(app, texts.format, kinds);
  declare_option(app, "-o,--output", texts.file, "FILE",
                 {"write to this file; its ending says the format", "写到这个文件；扩展名决定格式"});
}

Output::Output(const OutputTexts& texts, Kinds kinds, const show::TextStyle& style, World& world)
    : file_(texts.file), format_(&format_named(texts.format, kinds)), style_(style), world_(world) {
  if (file_) {
    style_.color = false;
    format_ = &format_of_output(*file_, kinds, *format_, texts.format.has_value(), false);
  }
  refuse_unread({&format_, 1}, world);
}

void Output::open(std::vector<std::string> inputs) {
  if (!file_) return;
  inputs.insert(inputs.end(), world_.inputs.begin(), world_.inputs.end());
  io::refuse_overwriting({*file_}, inputs);
  opened_.emplace_back(*file_);
}

io::Sink& Output::sink() {
  return opened_.empty() ? world_.out : opened_.front().sink();
}

void Output::write(const show::PageOptions& options, const Describe& describe, bool pause) {
  const show::Document page = page_in(*format_, options, describe);
  if (pause && opened_.empty() && format_->write == show::write_text) return show_step_by_step(page, style_, world_);
  sink().write(format_->write(page, style_));
}

void Output::finish() {
  io::commit_all(opened_);
}

void declare_pause(CommandLine& app, bool& pause) {
  declare_flag(
      app, "--pause", pause,
      {"on a terminal: one step, then Enter for the next, q to end", "在终端上：显示一步，按回车显示下一步，q 结束"});
}

void expect_terminal(const World& world) {
  if (world.input_is_terminal && world.output_is_terminal) return;
  throw Error({"--pause waits for Enter after each step, which needs a terminal; leave it out to print everything",
               "--pause 在每一步之后等待回车，因此需要终端；要全部打印请去掉它"});
}

void show_step_by_step(const show::Document& page, const show::TextStyle& style, World& world) {
  const std::vector<show::Document> pieces = show::split_at_steps(page);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    world.out.write(show::write_text(pieces[i], style));
    world.out.flush();
    if (i + 1 == pieces.size()) return;
    world.err.write(Text{"[Enter: next step, q: end] ", "（回车：下一步；q：结束）"}.in(page.language));
    world.err.flush();
    const bool more = wants_more(world.input);
    world.err.write("\n");
    if (!more) return;
  }
}

}  // namespace mha::cli
