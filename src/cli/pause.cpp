// One step at a time, for the lecture hall.
#include "cli/pause.hpp"

#include <unistd.h>

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
