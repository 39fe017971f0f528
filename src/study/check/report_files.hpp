// Reports as a page and for other programs: JSON, a table for a spreadsheet, results.json for Gradescope.
#pragma once

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/pages/page_parts.hpp"
#include "study/check/grading.hpp"
#include "study/check/report_words.hpp"

namespace mha::study {

// Of whom a page of several reports tells one by one.
enum class Tell { nobody, not_right, everyone };

// Of several reports, or with `as_class`, a summary and a line for each come first, and behind them those of `tell`; of
// nobody the summary stands alone. With a hint the page holds no more than that.
show::Document describe(const std::vector<Report>& reports, const Caption& problem, const show::PageOptions& options,
                        std::optional<Hint> hint, bool as_class = false, Tell tell = Tell::not_right);

// How reports are told.
struct Telling {
  Language language = Language::en;
  Index index_base = 1;
  std::optional<Hint> hint = {};  // nothing that tells more than it
  bool summary_only = false;      // of all answers together, and nothing of a single one
};

void write_report_json(io::Sink& sink, const std::vector<Report>& reports, const Telling& telling);

// One line for each answer under a line of names (RFC 4180); of a summary one for each count. A spreadsheet takes no text
// of another's for a formula.
void write_report_csv(io::Sink& sink, const std::vector<Report>& reports, const Telling& telling);

// Gradescope's results.json for one answer: a test for each step of the problem, given or not, so that the most that can be
// had is always the same; none of its texts has a true number.
void write_report_gradescope(io::Sink& sink, const Report& report, const Grading& grading, const Telling& telling);

}  // namespace mha::study
