// The program as a function, and what a command sees of the outside: streams, the terminal, the environment. Tests hand in
// one of their own.
#pragma once

#include <functional>
#include <vector>

#include "core/text.hpp"
#include "io/files/sink.hpp"

namespace mha::cli {

struct World {
  io::Sink& out;
  io::Sink& err;
  int input = 0;  // descriptor of standard input
  bool input_is_terminal = false;
  bool output_is_terminal = false;
  int terminal_width = 80;                              // columns of the terminal behind `out`; 80 where there is none
  std::function<std::string(const char*)> environment;  // "" for a variable that is not set
  bool error_is_terminal = false;
  Language language = Language::en;      // of pages and messages; cli() sets it
  std::vector<std::string> inputs = {};  // what was read so far, which no output may overwrite
  std::vector<std::string> given = {};   // the options as given: "--view", and with its value "--view lines"
};

// The language of the locale's name (LC_ALL, LC_MESSAGES, LANG, the first that is set): Chinese for zh…, else English. No
// locale is ever installed: it might not exist here, and it must not change how numbers read.
// `--lang` among the arguments goes before.
Language language_of(const std::vector<std::string>& arguments, const World& world);

// Colour helps on a terminal that can show it, unless NO_COLOR is set.
bool wants_color(const World& world);

// The folder for what can be made again, ours alone: of the XDG base directories. Empty where the environment names none.
std::string cache_folder(const World& world);

// A message on stderr: "mha: " and the sentence.
void tell_line(World& world, std::string_view sentence);
template <typename... Parts>
void tell(World& world, const Text& sentence, const Parts&... parts) {
  tell_line(world, say(world.language, sentence, parts...));
}

// How far a long piece of work has come, on the terminal behind stderr if there is one.
class Progress {
 public:
  Progress(World& world, std::size_t all) : world_(world), all_(all) {}

  void show(std::size_t done);
  // Leaves no trace on the terminal.
  void clear();

 private:
  World& world_;
  std::size_t all_;
  bool shown_ = false;
};

// `arguments` without the program's name. Every failure is told on world.err; nothing is thrown.
int cli(const std::vector<std::string>& arguments, World& world);

}  // namespace mha::cli
