// Turns a computation into a page: every step with its formula, shapes, matrices and an entry spelled out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/problem.hpp"
#include "core/trace.hpp"
#include "show/document.hpp"

namespace mha::show {

struct PageOptions {
  enum class Work { first, all, none };  // which entries are spelled out
  struct ChosenItem {
    Index item = 0;   // from 0, in the batch of the file
    Index count = 1;  // items in the file
  };

  Language language = Language::en;
  int precision = 3;
  Selection selection;
  Index index_base = 1;
  bool full = false;  // large matrices whole
  Work work = Work::first;
  std::optional<ChosenItem> chosen_item;  // the problem is this one item of a batch (select_item)
};

// The trace may lack values: what it does not hold is not shown.
Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// What the person should know before trusting the numbers, for stderr: rows that may attend to no key, by name.
std::vector<std::string> warnings(const Problem& problem, const Plan& plan, const PageOptions& options);

}  // namespace mha::show
