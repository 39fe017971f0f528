// A file that is opened early and put in its place late, or stdout.
#include "cli/output.hpp"

#include <unistd.h>

#include "io/files/paths.hpp"

namespace mha::cli {
namespace {

constexpr Text prompt = {"[Enter: next step, q: end] ", "[回车：下一步，q：结束] "};

// A line from the terminal; false at the end of the input or when it starts with q.
bool wants_more(int input) {
  char first = 0, character = 0;
  while (read(input, &character, 1) == 1) {
    if (character == '\n') return first != 'q' && first != 'Q';
    if (first == 0) first = character;
  }
  return false;
}

}  // namespace

void declare_output(CLI::App& app, OutputTexts& texts, Kinds kinds) {
  declare_format(app, texts.format, kinds);
  declare_option(app, "-o,--output", texts.file, "FILE", "write to this file; its ending says the format");
}

Output::Output(const OutputTexts& texts, Kinds kinds, const show::TextStyle& style, World& world)
    : file_(texts.file), format_(&format_named(texts.format, kinds)), style_(style), world_(world) {
  if (!file_) return;
  style_.color = false;
  if (const Format* format = format_of_file(*file_, kinds); format != nullptr && !texts.format) format_ = format;
}

void Output::open(std::vector<std::string> inputs) {
  if (!file_) return;
  io::refuse_overwriting({*file_}, inputs);
  opened_.emplace_back(*file_);
}

io::Sink& Output::sink() {
  return opened_.empty() ? world_.out : opened_.front().sink();
}

void Output::write(const show::Document& page) {
  sink().write(format_->write(page, style_));
}

void Output::finish() {
  io::commit_all(opened_);
}

void show_step_by_step(const show::Document& page, const show::TextStyle& style, World& world) {
  const std::vector<show::Document> pieces = show::split_at_steps(page);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    world.out.write(show::write_text(pieces[i], style));
    world.out.flush();
    if (i + 1 == pieces.size()) return;
    world.err.write(prompt.in(page.language));
    world.err.flush();
    if (!wants_more(world.input)) return;
  }
}

}  // namespace mha::cli
