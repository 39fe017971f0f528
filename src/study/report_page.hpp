// Reports as a page: a verdict on each step, and at each wrong one what was given beside what is expected.
#pragma once

#include "core/problem.hpp"
#include "show/describe.hpp"
#include "study/report_words.hpp"

namespace mha {

// With a hint the page holds no more than that.
Document describe(const std::vector<Report>& reports, const Problem& problem, const PageOptions& options,
                  std::optional<Hint> hint);

}  // namespace mha
