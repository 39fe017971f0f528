// What a command reads and writes: the problem that is meant, a file, standard input or a built-in example; and where the
// one thing that it tells goes, in which format.
#pragma once

#include "cli/options.hpp"
#include "cli/world.hpp"
#include "io/files/sink.hpp"
#include "show/pages/page_parts.hpp"

namespace mha::cli {

// `name` is a file, "-" for standard input, or the name of an example. Files with its matrices may lie outside its folder
// only with `allow_outside`. It and they are inputs of the world from then on.
Problem read_problem(const std::string& name, World& world, bool allow_outside = false);

// On stderr, what the person should know before trusting the numbers that were computed; of one of several problems under
// its name.
void warn_of(const Problem& problem, const Plan& plan, const Trace& trace, const show::PageOptions& page, World& world,
             bool by_name = false);
// The same of problems, which are computed for it unless they are large: then their numbers are not looked at.
void warn_of(std::span<const Problem> problems, const show::PageOptions& page, World& world);

// The one that is named, else this example.
std::string one_problem(const std::vector<std::string>& names, const char* otherwise = "worked");

// Several, each called as its title says, else as it is named here.
std::vector<Problem> read_problems(const std::vector<std::string>& names, World& world, bool allow_outside);

// Each of these may be "-", but only one of them.
void refuse_two_standard_inputs(const std::vector<std::string>& names);

// Of the built-in ones, which come before files of their name.
bool is_example(const std::string& name);

// The JSON of a built-in example; an unknown name is an error that suggests one.
std::string_view example_text(const std::string& name);

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
  bool has_links() const { return format_->has_links; }
  // After the inputs were read: they must not be written over, nor these that the world does not know.
  void open(std::vector<std::string> inputs = {});
  io::Sink& sink();
  void write(const show::PageOptions& options, const Describe& describe, bool pause = false);
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
