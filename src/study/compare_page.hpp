// A comparison as a page.
#pragma once

#include "show/describe.hpp"
#include "study/compare.hpp"

namespace mha {

// One side of a comparison.
struct Side {
  Words name;
  Written numbers;
};

// `remark` says what was done differently on the right, where that is known. Of the options, language, precision, index
// base, the selection of steps and heads, and `full` count.
Document describe(const Comparison& comparison, const Side& left, const Side& right, const Words& remark,
                  const PageOptions& options);

}  // namespace mha
