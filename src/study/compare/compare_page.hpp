// A comparison as a page.
#pragma once

#include "show/pages/describe.hpp"
#include "study/compare/compare.hpp"

namespace mha::study {

// One side of a comparison.
struct Side {
  show::Words name;
  Written numbers;
  const Problem* problem;  // whose labels are shown
};

// `remarks` say what was done differently on the right, where that is known. Of the options, language, precision, index
// base, the selection of steps and heads, and `full` count.
show::Document describe(const Comparison& comparison, const Side& left, const Side& right,
                        const std::vector<show::Words>& remarks, const show::PageOptions& options);

}  // namespace mha::study
