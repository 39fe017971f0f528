// How far a long piece of work has come, on the terminal behind stderr if there is one.
#pragma once

#include <cstddef>

#include "cli/world.hpp"

namespace mha::cli {

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

}  // namespace mha::cli
