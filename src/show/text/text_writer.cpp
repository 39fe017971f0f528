// Writes a page for a terminal or a plain text file: one function for each kind of block.
#include "show/writers.hpp"

#include <numeric>

#include "show/text/pen.hpp"
#include "show/text/wrap.hpp"

namespace mha::show {
namespace {

constexpr int indent = 3;
constexpr int heading_rule = 4;   // columns that the rules around a heading take at least
constexpr int least_column = 8;   // columns in which a header or a text may be broken
constexpr int widest_prose = 80;  // longer lines are hard to read; matrices may be wider

class TextWriter {
 public:
  TextWriter(const Document& document, const TextStyle& style)
      : document_(document), pen_(style), width_(style.width), prose_width_(std::min(style.width, widest_prose)) {}

  std::string write() {
    for (const Block& block : document_.blocks) {
      if (needs_space(block)) text_ += '\n';
      std::visit([this](const auto& content) { write(content); }, block);
      previous_ = &block;
    }
    return std::move(text_);
  }

 private:
  // A blank line stands before what begins something new.
  bool needs_space(const Block& block) const {
    if (previous_ == nullptr || std::holds_alternative<Facts>(block)) return false;
    if (std::holds_alternative<Table>(*previous_)) return true;
    const auto* note = std::get_if<Note>(&block);
    const auto* last = std::get_if<Note>(previous_);
    const bool paragraph = note != nullptr && note->kind == Note::Kind::paragraph;
    const bool after_paragraph = last != nullptr && last->kind == Note::Kind::paragraph;
    return paragraph || after_paragraph || std::holds_alternative<Section>(block) ||
           std::holds_alternative<StepHeading>(block) || std::holds_alternative<Table>(block);
  }

  // Spaces at the end of a line are never written.
  void line(std::string text, int by = 0) {
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) text_ += spaces(by);
    text_ += text;
    text_ += '\n';
  }

  // Parts stay whole where they fit on a line.
  std::vector<Piece> separated(const std::vector<Words>& parts, int width) const {
    std::vector<Piece> pieces;
    for (const Words& part : parts) {
      const std::string text = pen_.words(part), separator(pen_.separator());
      std::vector<Piece> words = display_width(text) <= width ? std::vector{Piece{"", text}} : pieces_of(text);
      if (!words.empty()) words.front().glue = separator;
      pieces.insert(pieces.end(), words.begin(), words.end());
    }
    return pieces;
  }

  void write(const Title& title) {
    for (const std::string& text : fill(separated(title.parts, prose_width_), prose_width_)) line(pen_.bold(text));
  }

  void write(const Facts& facts) {
    for (const std::string& text : fill(separated(facts.parts, prose_width_), prose_width_)) line(pen_.dim(text));
  }

  void write(const Section& section) {
    const std::string rule = pen_.own(section.level == Section::Level::item ? "═" : "─");
    const int room = prose_width_ - heading_rule - 2;
    for (const std::string& text : fill(separated(section.parts, room), room)) {
      std::string heading = rule + rule;
      heading.append(" ").append(text).append(" ");
      while (display_width(heading) < prose_width_) heading += rule;
      line(pen_.bold(heading));
    }
  }

  // "1  Queries   Q⁽¹⁾ = X · W_Q⁽¹⁾                               3×4 · 4×2 → 3×2"
  void write(const StepHeading& heading) {
    const std::string number = pad_right(heading.number ? std::to_string(*heading.number) : "", indent - 1) + " ";
    const std::string title = number + pen_.own(heading.title), formula = pen_.own(heading.formula);
    const std::string shapes = pen_.own(heading.shapes);
    const int room = prose_width_ - display_width(title) - 3 - display_width(formula);
    const bool shapes_fit = display_width(shapes) + 2 <= room;
    const std::string painted = pen_.bold(title);
    if (room < 0) {
      line(painted);
      for (const std::string& text : fill(terms_of(formula), prose_width_ - indent)) line(text, indent);
    } else {
      const int space = shapes_fit ? room - display_width(shapes) : 0;
      line(painted + "   " + formula + spaces(space) + pen_.dim(shapes_fit ? shapes : ""));
    }
    if (!shapes_fit && !shapes.empty())
      for (const std::string& text : fill(terms_of(shapes), prose_width_ - indent)) line(pen_.dim(text), indent);
  }

  void write(const Note& note) {
    const std::string text = pen_.words(note.text);
    switch (note.kind) {
      case Note::Kind::paragraph:
        for (const std::string& part : fill(pieces_of(text), prose_width_)) line(part);
        return;
      case Note::Kind::caption:
        for (const std::string& part : fill(pieces_of(text), prose_width_ - indent)) line(pen_.dim(part), indent);
        return;
      case Note::Kind::hint:
      case Note::Kind::warning:
        for (const std::string& part : fill(pieces_of("! " + text), prose_width_ - indent))
          line(pen_.warning(part), indent);
        return;
    }
  }

  void write(const Equation& equation) {
    for (std::string& text : lay_out(equation, pen_, document_, width_ - indent)) line(std::move(text), indent);
  }

  void write(const Work& work) {
    for (std::string& text : lay_out(work, pen_, prose_width_ - indent)) line(std::move(text), indent);
  }

  using Cells = std::vector<std::string>;

  static bool is_numeric(const Table& table, std::size_t column) {
    return column < table.numeric.size() && table.numeric[column];
  }

  // Of the columns: all that their cells take, headers broken at words where they do not fit; the last one, where it is of
  // text, has what is left. Nothing where a row is wider than `room` even so.
  static std::optional<std::vector<int>> widths_of(const std::vector<Cells>& rows, const Table& table, int room) {
    const std::size_t columns = rows.front().size();
    std::vector<int> whole(columns), least(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      const bool has_rest = i + 1 == columns && !is_numeric(table, i);
      for (const Cells& row : rows) {
        const int width = display_width(row[i]), needed = has_rest || &row == &rows.front() ? least_column : width;
        whole[i] = std::max(whole[i], has_rest ? std::min(width, least_column) : width);
        least[i] = std::max(least[i], std::min(width, needed));
      }
      for (const Piece& word : pieces_of(rows.front()[i])) least[i] = std::max(least[i], display_width(word.text));
    }
    room -= 2 * static_cast<int>(columns - 1);
    for (int most = *std::max_element(whole.begin(), whole.end()); most >= 0; --most) {
      std::vector<int> widths(columns);
      for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(least[i], std::min(whole[i], most));
      const int all = std::accumulate(widths.begin(), widths.end(), 0);
      if (all > room) continue;
      if (!is_numeric(table, columns - 1)) widths.back() += room - all;
      return widths;
    }
    return std::nullopt;
  }

  void write(const Table& table) {
    std::vector<Cells> rows(1);
    for (const std::string& name : table.header) rows.front().push_back(pen_.own(name));
    for (const std::vector<Words>& row : table.rows) {
      rows.emplace_back();
      for (const Words& words : row) rows.back().push_back(pen_.words(words));
    }
    const int by = table.within_step ? indent : 0;
    auto widths = widths_of(rows, table, prose_width_ - by);
    if (!widths) widths = widths_of(rows, table, width_ - by);
    if (!widths) return write_records(rows, by);
    for (const Cells& row : rows) write_row(row, *widths, table, by, &row == &rows.front());
  }

  void write_row(const Cells& row, const std::vector<int>& widths, const Table& table, int by, bool is_header) {
    std::vector<Cells> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool breaks = is_header || (i + 1 == row.size() && !is_numeric(table, i));
      cells.push_back(breaks ? fill(pieces_of(row[i]), widths[i]) : Cells{row[i]});
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t at = 0; at < lines; ++at) {
      std::string text;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : "";
        text += (is_numeric(table, i) ? pad_left(cell, widths[i]) : pad_right(cell, widths[i])) + "  ";
      }
      text.erase(text.find_last_not_of(' ') + 1);
      line(is_header ? pen_.bold(text) : text, by);
    }
  }

  // What does not stand side by side stands one below the other, each cell behind the name of its column.
  void write_records(const std::vector<Cells>& rows, int by) {
    int names = 0;
    for (const std::string& name : rows.front()) names = std::max(names, display_width(name));
    names = std::min(names, (prose_width_ - by) / 2);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (i > 1) line("");
      for (std::size_t column = 0; column < rows[i].size(); ++column) {
        const Cells name = fill(pieces_of(rows.front()[column]), names);
        const Cells cell = fill(pieces_of(rows[i][column]), prose_width_ - by - names - 2);
        for (std::size_t at = 0; at < std::max(name.size(), cell.size()); ++at)
          line(pad_right(at < name.size() ? name[at] : "", names) + "  " + (at < cell.size() ? cell[at] : ""), by);
      }
    }
  }

  const Document& document_;
  Pen pen_;
  int width_;
  int prose_width_;
  std::string text_;
  const Block* previous_ = nullptr;
};

}  // namespace

std::string write_text(const Document& document, const TextStyle& style) {
  return TextWriter(document, style).write();
}

}  // namespace mha::show
