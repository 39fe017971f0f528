// What the command line of mha run and mha gradient asks for: as it is written, and what can be settled of it without the
// problem.
#pragma once

#include "cli/files.hpp"

namespace mha::cli {

// As written on the command line.
struct RunOptionTexts {
  std::vector<std::string> problem, output;
  std::optional<std::string> format, work, against, view, columns;
  SelectionTexts selection;
  bool with_weights = false, pause = false, quiet = false;
  PageOptionTexts page;
  bool allow_outside = false;
  ComputationOptionTexts computation;
  bool gradient = false;  // mha gradient, and its own:
  std::optional<std::string> loss, descend, times, next;
  bool with_forward = false;
};

struct RunRequest {
  std::string problem = "worked";
  std::vector<std::pair<std::string, const Format*>> outputs;
  const Format* format = nullptr;  // on stdout, when there are no outputs
  show::PageOptions page;
  show::TextStyle style;
  Arithmetic arithmetic;
  bool against_cpu = false, against_difference = false;  // instead of the page
  std::optional<double> rate;                            // of gradient descent
  int times = 1;

  // Whether pages are among what is written, or else whether anything but them is.
  bool writes(bool pages) const;
};

// 1 where a device was held against the CPU and a step differs by more than its arithmetic allows.
Exit compute_and_tell(const RunOptionTexts& texts, RunRequest request, World& world);

}  // namespace mha::cli
