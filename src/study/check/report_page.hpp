// Reports as a page: a verdict on each step, and at each wrong one what was given beside what is expected.
#pragma once

#include "core/problem.hpp"
#include "show/pages/describe.hpp"
#include "study/check/report_words.hpp"

namespace mha::study {

// With a hint the page holds no more than that.
show::Document describe(const std::vector<Report>& reports, const Problem& problem, const show::PageOptions& options,
                        std::optional<Hint> hint);

}  // namespace mha::study
