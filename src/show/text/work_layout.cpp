// Sets an entry that is spelled out.
#include "show/text/pen.hpp"

#include "show/text/wrap.hpp"

namespace mha::show {
namespace {

constexpr int relation_width = 3;  // " = "
constexpr int remark_gap = 3;
constexpr int least_room = 30;  // for an expression that makes room for a remark

// The text without colour, then the remark with it.
std::string with_remark(const std::string& text, int column, const std::string& remark, const Pen& pen) {
  return remark.empty() ? text : pad_right(text, column) + spaces(remark_gap) + pen.dim(remark);
}

// A remark in the middle keeps the entry from standing on one line.
std::vector<std::string> on_one_line(const Work& work, const Pen& pen, int width) {
  std::string text = work.entry;
  for (const Work::Line& line : work.lines) {
    if (!line.remark.empty() && &line != &work.lines.back()) return {};
    text += " " + line.relation + " " + line.expression;
  }
  text = pen.own(text);
  const std::string remark = pen.words(work.lines.back().remark);
  const int needed = display_width(text) + (remark.empty() ? 0 : remark_gap + display_width(remark));
  if (needed > width) return {};
  return {with_remark(text, display_width(text), remark, pen)};
}

struct WorkRow {
  std::string text, remark;
};

// An entry and how far its relations hang: behind it, or below where it leaves them no room.
struct WorkEntry {
  std::string text;
  bool alone;
  int hang;
};

WorkEntry entry_of(const Work& work, const Pen& pen, int width) {
  const std::string text = pen.own(work.entry);
  const bool alone = display_width(text) > width / 3;
  return {text, alone, alone ? 1 : display_width(text)};
}

// Every expression broken into lines of `room` columns; its remark stands at its last line.
std::vector<WorkRow> rows_of(const Work& work, const WorkEntry& entry, const Pen& pen, int room) {
  std::vector<WorkRow> rows;
  if (entry.alone) rows.push_back({entry.text, ""});
  for (const Work::Line& line : work.lines) {
    std::string before = (rows.empty() ? entry.text : spaces(entry.hang)) + " " + pen.own(line.relation) + " ";
    for (const std::string& text : fill(terms_of(pen.own(line.expression)), room)) {
      rows.push_back({before + text, ""});
      before = spaces(entry.hang + relation_width);
    }
    rows.back().remark = pen.words(line.remark);
  }
  return rows;
}

// Where the remarks stand beside their rows, or nothing where there is no room for them.
std::optional<int> remark_column(const std::vector<WorkRow>& rows, int width) {
  int column = 0, longest = 0;
  for (const WorkRow& row : rows) {
    if (row.remark.empty()) continue;
    column = std::max(column, display_width(row.text));
    longest = std::max(longest, display_width(row.remark));
  }
  return column + remark_gap + longest <= width ? std::optional(column) : std::nullopt;
}

// "Y[1,1] = 0.802·1 + 0.797·0   head 1: 0.802"
// "       + 0.898·1 + 1.798·0   head 2: 0.898"
std::vector<std::string> on_several_lines(const Work& work, const Pen& pen, int width) {
  const WorkEntry entry = entry_of(work, pen, width);
  const int hang = entry.hang + relation_width, room = width - hang;
  std::vector<WorkRow> rows = rows_of(work, entry, pen, room);
  std::optional<int> column = remark_column(rows, width);
  for (int narrower = room - 1; !column && narrower >= least_room; --narrower) {
    std::vector<WorkRow> narrow_rows = rows_of(work, entry, pen, narrower);
    column = remark_column(narrow_rows, width);
    if (column) rows = std::move(narrow_rows);
  }
  std::vector<std::string> lines;
  for (const WorkRow& row : rows) {
    lines.push_back(column ? with_remark(row.text, *column, row.remark, pen) : row.text);
    if (column || row.remark.empty()) continue;
    for (const std::string& text : fill(pieces_of(row.remark), room)) lines.push_back(spaces(hang) + pen.dim(text));
  }
  return lines;
}

}  // namespace

std::vector<std::string> lay_out(const Work& work, const Pen& pen, int width) {
  if (work.lines.empty()) return {pen.own(work.entry)};
  std::vector<std::string> line = on_one_line(work, pen, width);
  return line.empty() ? on_several_lines(work, pen, width) : line;
}

}  // namespace mha::show
