// Reports as a page: a verdict on each step, and at each wrong one what was given beside what is expected.
#pragma once

#include "core/problem.hpp"
#include "show/pages/describe.hpp"
#include "study/check/report_words.hpp"

namespace mha::study {

// Of several reports, or with `as_class`, a summary and a line for each come first, and behind them those that are not
// right. With a hint the page holds no more than that.
show::Document describe(const std::vector<Report>& reports, const Caption& problem, const show::PageOptions& options,
                        std::optional<Hint> hint, bool as_class = false, bool summary_only = false);

}  // namespace mha::study
