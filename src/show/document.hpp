// A page as data: blocks in reading order, without layout, so that each format is one writer of its own.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include "core/tensor.hpp"
#include "core/text.hpp"

namespace mha::show {

// Words of the program, or words of the person (a label, a title): these are escaped, but never translated or respelled.
struct Span {
  std::string text;
  bool quoted = false;
};

// A run of text from both.
class Words {
 public:
  Words() = default;
  Words(std::string own) { add(std::move(own)); }
  Words(const char* own) : Words(std::string(own)) {}

  Words& add(std::string own) {
    if (!own.empty()) spans_.push_back({std::move(own), false});
    return *this;
  }
  Words& quote(std::string text) {
    if (!text.empty()) spans_.push_back({std::move(text), true});
    return *this;
  }
  Words& append(const Words& other) {
    spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end());
    return *this;
  }
  const std::vector<Span>& spans() const { return spans_; }
  bool empty() const { return spans_.empty(); }
  std::string plain() const {
    std::string text;
    for (const Span& span : spans_) text += span.text;
    return text;
  }

 private:
  std::vector<Span> spans_;
};

// Parts of a title, of the facts or of a section heading stand apart: a writer puts its own separator between them.
struct Title {
  std::vector<Words> parts;
};

// Sizes and conventions.
struct Facts {
  std::vector<Words> parts;
};

struct Section {
  enum class Level { item, head };
  Level level = Level::head;
  std::vector<Words> parts;
};

struct StepHeading {
  std::optional<int> number;  // nothing for what is given rather than computed
  std::string title;
  std::string formula;
  std::string shapes;  // "3×4 · 4×2 → 3×2"
};

struct Note {
  enum class Kind { paragraph, caption, warning, hint };  // a hint is a warning that may wait until it is asked for
  Kind kind = Kind::caption;
  Words text;
};

// Which rows or columns of a matrix are shown: the first `before` and the last `after` of `size`.
struct Shown {
  Index size = 0;
  Index before = 0;
  Index after = 0;

  Index count() const { return before + after; }
  bool all() const { return count() == size; }
  bool has(Index place) const { return place < before || place >= size - after; }
  // Where the i-th shown one stands in the whole.
  Index place(Index i) const { return i < before ? i : size - count() + i; }
  // As drawn, with one line (or column) more for what is left out: how many there are, and which of the shown ones it is.
  Index drawn() const { return count() + (all() ? 0 : 1); }
  std::optional<Index> shown_at(Index line) const {
    if (all() || line < before) return line;
    return line == before ? std::nullopt : std::optional(line - 1);
  }
};

struct Cell {
  enum class Mark : char { none, hidden, worked, wrong };  // hidden by a mask; spelled out below; not what is expected
  std::string text;
  Mark mark = Mark::none;
  float shade = -1;  // 0 to 1 for a weight; negative: none
};

// Neighbouring columns that belong together, such as those of one head.
struct ColumnGroup {
  std::string label;
  Index columns = 0;
};

// One entry with its numbers: "Q[1,1]", then "= 1·1 + 0·0", then "= 1".
struct Work {
  struct Line {
    std::string relation;
    std::string expression;  // may be broken at its spaces
    Words remark;
  };
  std::string entry;
  std::vector<Line> lines;
};

// Where an entry stands in which matrix: "A1", row, column, as a person counts and types.
struct EntryName {
  std::string matrix;
  Index row = 0, column = 0;
};

// Cells of a matrix as it is stored, from 0.
struct CellRange {
  std::string matrix;  // by the name of its sources
  Index row = 0, column = 0, rows = 1, columns = 1;
};

// What computes an entry, as spreadsheets write it: text, cells, and the sum of the products of two ranges.
using CellFormula = std::vector<std::variant<std::string, CellRange, std::array<CellRange, 2>>>;

// What computes a matrix with NumPy, from matrices of these names; empty: nothing does.
struct NumpyCode {
  std::string text = {};
  std::vector<std::string> needs = {};
};

// What a spreadsheet, which knows no −∞, computes with instead.
inline constexpr double hidden_in_cells = -1e300;

// How the entries that a page shows come about, for formats in which one can ask a number where it is from: as the matrix
// is stored, whatever way it is shown.
struct Sources {
  std::string name;                // of the matrix: "A1", "layer2.A1", "item1.A1", "step2.A1"
  std::vector<std::string> exact;  // the shown entries in full, row after row; none of what is to be filled in
  std::vector<Work> works;         // of each, where a step on this page computes it here
  std::vector<std::vector<EntryName>> reads;
  std::string cells = {};                  // what a sheet calls its cells: "A1_weights", "W_Q1"; empty: nothing
  std::vector<CellFormula> formulas = {};  // of each, where cells can compute it
  NumpyCode code = {};
  std::string part = {};  // with which the name begins: "step2." of decoding

  bool to_be_filled_in() const { return exact.empty(); }
};

// Labels are there for each shown row or column, or not at all.
struct Matrix {
  std::string symbol;
  Shown rows, columns;
  std::vector<Cell> cells;                             // of the shown rows and columns, row after row
  std::vector<std::string> row_labels, column_labels;  // the person's
  std::vector<ColumnGroup> groups;                     // over all columns, or none
  std::vector<std::string> row_sums;
  bool transposed = false;
  std::optional<Sources> sources = {};

  const Cell& cell(Index row, Index column) const {
    return cells[static_cast<std::size_t>(row * columns.count() + column)];
  }
};

// Matrices with what stands between them: "X", "·", "W_Q", "=", "Q". A label on the rows of the first is meant for all.
struct Equation {
  using Part = std::variant<Matrix, std::string>;
  std::vector<Part> parts;
};

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<Words>> rows;
  std::vector<bool> numeric = {};  // by column: set flush right; empty: none is
  bool within_step = false;        // belongs to the step above it
  std::size_t out_of = 0;          // the first column counts so many; 0: it does not count
};

using Block = std::variant<Title, Facts, Section, StepHeading, Note, Equation, Work, Table>;

struct Document {
  Language language = Language::en;
  Index index_base = 1;
  std::vector<Block> blocks;
  std::vector<Document> translation = {};  // the same page in the other language, where both are meant
};

// A sentence of the page's writer; of a page in both languages both.
std::string say(const Document& page, const Text& text);

// One page in one piece whose headings, notes and tables are in both languages, for writers that have no switch.
Document in_both_languages(const Document& page);

// The page in pieces, each ending where the next step or section begins; only steps make a piece of their own.
std::vector<Document> split_at_steps(Document document);

}  // namespace mha::show
