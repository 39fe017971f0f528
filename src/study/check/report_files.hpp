// Reports for other programs: JSON, a table for a spreadsheet, results.json for Gradescope.
#pragma once

#include "io/files/sink.hpp"
#include "study/check/report_words.hpp"

namespace mha::study {

// With a hint, nothing that tells more than it.
void write_report_json(io::Sink& sink, const std::vector<Report>& reports, std::optional<Hint> hint);

// One line for each answer under a line of names (RFC 4180).
void write_report_csv(io::Sink& sink, const std::vector<Report>& reports, std::optional<Hint> hint);

// Gradescope's results.json for one answer: one test for each step that was given; none of its texts has a true number.
void write_report_gradescope(io::Sink& sink, const Report& report, Language language, Index index_base,
                             std::optional<Hint> hint);

}  // namespace mha::study
