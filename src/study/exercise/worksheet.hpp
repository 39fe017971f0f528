// An exercise on paper: every step told, with blanks where its numbers go.
#pragma once

#include <string>

#include "core/problem.hpp"
#include "show/document.hpp"

namespace mha::study {

struct WorksheetOptions {
  Language language = Language::en;
  int decimals = 3;
  std::string student;  // empty: a blank to write the name on
  std::string due;      // until when it is handed in, in the teacher's words; empty: not said
};

show::Document worksheet(const Problem& problem, const WorksheetOptions& options);

}  // namespace mha::study
