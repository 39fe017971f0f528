// A file that is opened early and put in its place late, or stdout.
#include "cli/output.hpp"

#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "core/error.hpp"
#include "io/files/paths.hpp"

namespace mha::cli {
namespace {

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

void declare_output(CommandLine& app, OutputTexts& texts, Kinds kinds) {
  declare_format(app, texts.format, kinds);
  declare_option(app, "-o,--output", texts.file, "FILE",
                 {"write to this file; its ending says the format", "写到这个文件；扩展名决定格式"});
}

Output::Output(const OutputTexts& texts, Kinds kinds, const show::TextStyle& style, World& world)
    : file_(texts.file), format_(&format_named(texts.format, kinds)), style_(style), world_(world) {
  if (!file_) return;
  style_.color = false;
  format_ = &format_of_output(*file_, kinds, *format_, texts.format.has_value(), false);
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

void Output::write(const show::Document& page, bool pause) {
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
