// Where the one thing that a command tells goes, and in which format.
#pragma once

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/world.hpp"
#include "io/files/output_file.hpp"

namespace mha::cli {

// --format and -o, as written on the command line.
struct OutputTexts {
  std::optional<std::string> format, file;
};
void declare_output(CommandLine& app, OutputTexts& texts, Kinds kinds);

// To -o FILE, which is opened before the work and takes its place after it, or to stdout. The format is that of --format,
// else that of the file's ending, else text.
class Output {
 public:
  Output(const OutputTexts& texts, Kinds kinds, const show::TextStyle& style, World& world);

  Format::Kind kind() const { return format_->kind; }
  // After the inputs were read: they must not be written over, nor these that the world does not know.
  void open(std::vector<std::string> inputs = {});
  io::Sink& sink();
  void write(const show::Document& page, bool pause = false);
  void finish();

 private:
  const std::optional<std::string>& file_;
  const Format* format_;
  show::TextStyle style_;
  World& world_;
  std::deque<io::OutputFile> opened_;
};

// --pause, and what it needs: an Error where there is no terminal.
void declare_pause(CommandLine& app, bool& pause);
void expect_terminal(const World& world);

// Prints a step, waits for Enter, prints the next, for the lecture hall; q or the end of the input ends the page.
void show_step_by_step(const show::Document& page, const show::TextStyle& style, World& world);

}  // namespace mha::cli
