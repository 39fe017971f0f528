// Draws one matrix, or some of its columns, with brackets, labels and row sums.
#pragma once

#include "show/document.hpp"
#include "show/text/pen.hpp"

namespace mha::show {

// A rectangle of text with an axis, as typesetters have it: formulas are built by setting boxes side by side.
struct Box {
  std::vector<std::string> lines;  // each `width` columns wide
  int width = 0;
  int axis = 0;  // the line that meets the axes of the neighbours
};

// Operators and the like; already as the terminal shall show it.
Box text_box(const std::string& text);

Box beside(const std::vector<Box>& boxes);

struct MatrixStyle {
  int gap = 2;         // spaces between columns: 1 or 2
  int padding = 1;     // spaces inside the brackets: 0 or 1
  bool symbol = true;  // its name above it
  bool column_labels = true;
  int label_limit = 12;     // how far a label may widen its column
  int row_label_width = 0;  // 0: without row labels
};

// Columns as drawn, half-open; among them may be the one that stands for what is left out.
struct DrawnColumns {
  Index first = 0;
  Index last = 0;
};

// A matrix, measured once and then drawn in one style or another. The matrix and the pen must outlive it.
class MatrixDrawing {
 public:
  MatrixDrawing(const Matrix& matrix, const Pen& pen);

  const Matrix& matrix() const { return matrix_; }
  DrawnColumns all() const { return {0, static_cast<Index>(columns_.size())}; }
  int row_label_width() const;
  int width(const MatrixStyle& style, DrawnColumns columns) const;
  Box draw(const MatrixStyle& style, DrawnColumns columns) const;
  // As many columns from `first` on as fit, at least one; groups stay whole unless one alone is too wide.
  DrawnColumns fitting(const MatrixStyle& style, Index first, int width) const;

 private:
  struct Column {
    int number_width = 0;
    int fraction_width = 0;  // of the longest fraction, the point included
    std::string label;
    int label_width = 0;
    int group = 0;
    bool starts_group = false;
  };

  Column measured(Index column) const;
  void assign_groups();

  std::string text(Index row, Index column) const;
  std::string row_label(Index row, int width) const;
  int column_width(const MatrixStyle& style, Index column) const;
  int space_before(const MatrixStyle& style, Index column, DrawnColumns columns) const;
  int space_after(const MatrixStyle& style, Index column, DrawnColumns columns) const;
  int cell_width(const MatrixStyle& style, Index column, DrawnColumns columns) const;
  int body_width(const MatrixStyle& style, DrawnColumns columns) const;
  int frame_width(const MatrixStyle& style, DrawnColumns columns) const;  // the body, or its name where that is wider
  int row_sum_width() const;
  std::string separator(const MatrixStyle& style, Index column, DrawnColumns columns) const;

  std::string framed(const MatrixStyle& style, DrawnColumns columns, const std::string& label, const std::string& body,
                     const std::string& sum) const;
  std::string group_line(const MatrixStyle& style, DrawnColumns columns) const;
  std::string label_line(const MatrixStyle& style, DrawnColumns columns) const;
  std::string row_line(const MatrixStyle& style, DrawnColumns columns, Index row) const;

  const Matrix& matrix_;
  const Pen& pen_;
  bool starred_ = false;  // wrong entries have a star behind them, as colour is not everywhere
  std::vector<Column> columns_;
};

}  // namespace mha::show
