// How far a long piece of work has come.
#include "cli/progress.hpp"

#include <fmt/format.h>

namespace mha::cli {
namespace {

constexpr std::size_t bar_width = 30;

}  // namespace

void Progress::show(std::size_t done) {
  if (!world_.error_is_terminal || all_ == 0) return;
  const std::size_t filled = done * bar_width / all_;
  world_.err.write(fmt::format("\r[{:<{}}] {}/{}", std::string(filled, '#'), bar_width, done, all_));
  world_.err.flush();
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  world_.err.write("\r\x1b[K");
  world_.err.flush();
  shown_ = false;
}

}  // namespace mha::cli
