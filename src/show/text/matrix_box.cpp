// Draws one matrix, or some of its columns.
#include "show/text/matrix_box.hpp"

#include "show/text/wrap.hpp"

namespace mha::show {
namespace {

// The line of a matrix at which operators stand: its middle, and below it in a matrix of two rows, which then begins
// where one of three rows begins.
int middle(Index rows) {
  return rows == 2 ? 1 : static_cast<int>(rows - 1) / 2;
}

struct Brackets {
  std::string_view left, right;
};

Brackets brackets(Index row, Index rows) {
  if (rows == 1) return {"[", "]"};
  if (row == 0) return {"⎡", "⎤"};
  if (row == rows - 1) return {"⎣", "⎦"};
  return {"⎢", "⎥"};
}

int fraction_width(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point);
}

}  // namespace

Box text_box(const std::string& text) {
  return {{text}, display_width(text), 0};
}

Box beside(const std::vector<Box>& boxes) {
  Box result;
  int below = 0;
  for (const Box& box : boxes) {
    result.axis = std::max(result.axis, box.axis);
    below = std::max(below, static_cast<int>(box.lines.size()) - box.axis);
    result.width += box.width;
  }
  const int height = result.axis + below;
  result.lines.resize(static_cast<std::size_t>(height));
  for (const Box& box : boxes) {
    const std::string blank = spaces(box.width);
    for (int line = 0; line < height; ++line) {
      const int own = line - result.axis + box.axis;
      const bool inside = own >= 0 && own < static_cast<int>(box.lines.size());
      result.lines[static_cast<std::size_t>(line)] += inside ? box.lines[static_cast<std::size_t>(own)] : blank;
    }
  }
  return result;
}

MatrixDrawing::MatrixDrawing(const Matrix& matrix, const Pen& pen) : matrix_(matrix), pen_(pen) {
  const auto is_wrong = [](const Cell& cell) { return cell.mark == Cell::Mark::wrong; };
  starred_ = std::any_of(matrix.cells.begin(), matrix.cells.end(), is_wrong);
  for (Index column = 0; column < matrix.columns.drawn(); ++column) columns_.push_back(measured(column));
  if (!matrix.groups.empty()) assign_groups();
}

MatrixDrawing::Column MatrixDrawing::measured(Index column) const {
  Column result;
  int whole_width = 0, other_width = 0;  // of numbers with a point, of everything else
  for (Index row = 0; row < matrix_.rows.drawn(); ++row) {
    const std::string number = text(row, column);
    const int fraction = fraction_width(number);
    result.fraction_width = std::max(result.fraction_width, fraction);
    int& width = fraction > 0 ? whole_width : other_width;
    width = std::max(width, display_width(number) - fraction);
  }
  result.number_width = std::max(whole_width + result.fraction_width, other_width);
  if (!matrix_.column_labels.empty()) {
    const std::optional<Index> shown = matrix_.columns.shown_at(column);
    result.label = shown ? pen_.quoted(matrix_.column_labels[static_cast<std::size_t>(*shown)]) : pen_.own("…");
    result.label_width = display_width(result.label);
  }
  return result;
}

// Marks where groups begin, and widens a column where the group's label would not fit otherwise.
void MatrixDrawing::assign_groups() {
  std::size_t group = 0;
  Index end = matrix_.groups.front().columns;
  for (Index column = 0; column < all().last; ++column) {
    Column& here = columns_[static_cast<std::size_t>(column)];
    if (const std::optional<Index> shown = matrix_.columns.shown_at(column)) {
      const Index place = matrix_.columns.place(*shown);
      here.starts_group = column == 0;
      while (place >= end) {
        end += matrix_.groups[++group].columns;
        here.starts_group = true;
      }
    }
    here.group = static_cast<int>(group);
  }
  for (Index first = 0; first < all().last;) {
    Index last = first + 1;
    const int id = columns_[static_cast<std::size_t>(first)].group;
    int width = columns_[static_cast<std::size_t>(first)].number_width;
    for (; last < all().last && columns_[static_cast<std::size_t>(last)].group == id; ++last)
      width += 1 + columns_[static_cast<std::size_t>(last)].number_width;
    const std::string& label = matrix_.groups[static_cast<std::size_t>(id)].label;
    columns_[static_cast<std::size_t>(first)].number_width += std::max(0, display_width(pen_.own(label)) - width);
    first = last;
  }
}

std::string MatrixDrawing::text(Index row, Index column) const {
  const std::optional<Index> shown_row = matrix_.rows.shown_at(row), shown_column = matrix_.columns.shown_at(column);
  std::string text = shown_row ? "…" : shown_column ? "⋮" : "⋱";
  bool wrong = false;
  if (shown_row && shown_column) {
    const Cell& cell = matrix_.cell(*shown_row, *shown_column);
    text = cell.text;
    wrong = cell.mark == Cell::Mark::wrong;
  }
  if (starred_) text += wrong ? "*" : " ";  // so that digits stand below digits
  return pen_.own(text);
}

std::string MatrixDrawing::row_label(Index row, int width) const {
  if (matrix_.row_labels.empty()) return "";
  const std::optional<Index> shown = matrix_.rows.shown_at(row);
  const std::string label = shown ? pen_.quoted(matrix_.row_labels[static_cast<std::size_t>(*shown)]) : pen_.own("⋮");
  return shortened(label, width, pen_.ellipsis());
}

int MatrixDrawing::row_label_width() const {
  int width = 0;
  for (const std::string& label : matrix_.row_labels) width = std::max(width, display_width(pen_.quoted(label)));
  return width;
}

int MatrixDrawing::row_sum_width() const {
  int width = 0;
  for (const std::string& sum : matrix_.row_sums) width = std::max(width, display_width(sum));
  return std::max(width, display_width(pen_.own("Σ")));
}

int MatrixDrawing::column_width(const MatrixStyle& style, Index column) const {
  const Column& here = columns_[static_cast<std::size_t>(column)];
  return style.column_labels ? std::max(here.number_width, std::min(here.label_width, style.label_limit))
                             : here.number_width;
}

// Between the heads of one large matrix.
std::string MatrixDrawing::separator(const MatrixStyle& style, Index column, DrawnColumns columns) const {
  if (column == columns.first || !columns_[static_cast<std::size_t>(column)].starts_group) return "";
  return (style.gap == 1 ? " " : "") + pen_.own("│");
}

// A cell is a space, the number and gap − 1 spaces, so that shades touch where columns stand two apart. At the brackets
// the padding takes the place of these spaces.
int MatrixDrawing::space_before(const MatrixStyle& style, Index column, DrawnColumns columns) const {
  return column == columns.first ? style.padding : 1;
}

int MatrixDrawing::space_after(const MatrixStyle& style, Index column, DrawnColumns columns) const {
  return column == columns.last - 1 ? style.padding : style.gap - 1;
}

int MatrixDrawing::cell_width(const MatrixStyle& style, Index column, DrawnColumns columns) const {
  return display_width(separator(style, column, columns)) + space_before(style, column, columns) +
         column_width(style, column) + space_after(style, column, columns);
}

// From bracket to bracket.
int MatrixDrawing::body_width(const MatrixStyle& style, DrawnColumns columns) const {
  int width = 2;
  for (Index column = columns.first; column < columns.last; ++column) width += cell_width(style, column, columns);
  return width;
}

int MatrixDrawing::width(const MatrixStyle& style, DrawnColumns columns) const {
  const int labels = style.row_label_width > 0 ? style.row_label_width + 1 : 0;
  const int sums = matrix_.row_sums.empty() || columns.last < all().last ? 0 : 2 + row_sum_width();
  return labels + frame_width(style, columns) + sums;
}

int MatrixDrawing::frame_width(const MatrixStyle& style, DrawnColumns columns) const {
  const int name = style.symbol ? display_width(pen_.own(matrix_.symbol)) : 0;
  return std::max(body_width(style, columns), name);
}

DrawnColumns MatrixDrawing::fitting(const MatrixStyle& style, Index first, int width) const {
  DrawnColumns columns{first, first + 1};
  while (columns.last < all().last && this->width(style, {first, columns.last + 1}) <= width) ++columns.last;
  if (columns.last == all().last) return columns;
  for (Index column = columns.last; column > first; --column)
    if (columns_[static_cast<std::size_t>(column)].starts_group) return {first, column};
  return columns;
}

std::string MatrixDrawing::framed(const MatrixStyle& style, DrawnColumns columns, const std::string& label,
                                  const std::string& body, const std::string& sum) const {
  std::string line = style.row_label_width > 0 ? pad_right(label, style.row_label_width) + " " : "";
  line += body + spaces(frame_width(style, columns) - body_width(style, columns));
  if (!matrix_.row_sums.empty() && columns.last == all().last) line += "  " + pad_left(sum, row_sum_width());
  return line;
}

std::string MatrixDrawing::group_line(const MatrixStyle& style, DrawnColumns columns) const {
  std::string body = " ";
  for (Index first = columns.first; first < columns.last;) {
    const int group = columns_[static_cast<std::size_t>(first)].group;
    body += separator(style, first, columns).empty() ? "" : spaces(display_width(separator(style, first, columns)));
    int width = -display_width(separator(style, first, columns));
    for (; first < columns.last && columns_[static_cast<std::size_t>(first)].group == group; ++first)
      width += cell_width(style, first, columns);
    const std::string label = pen_.own(matrix_.groups[static_cast<std::size_t>(group)].label);
    body += centred(shortened(label, width, pen_.ellipsis()), width);
  }
  return framed(style, columns, "", pad_right(body, body_width(style, columns)), "");
}

std::string MatrixDrawing::label_line(const MatrixStyle& style, DrawnColumns columns) const {
  std::string body = " ";
  for (Index column = columns.first; column < columns.last; ++column) {
    const int width = column_width(style, column);
    const std::string& full = columns_[static_cast<std::size_t>(column)].label;
    const std::string label = shortened(full, width, pen_.ellipsis());
    const int after = space_after(style, column, columns);
    body += pad_left(label, cell_width(style, column, columns) - after) + spaces(after);
  }
  return framed(style, columns, "", pad_right(body, body_width(style, columns)), pen_.own("Σ"));
}

std::string MatrixDrawing::row_line(const MatrixStyle& style, DrawnColumns columns, Index row) const {
  const Brackets bracket = brackets(row, matrix_.rows.drawn());
  const std::optional<Index> shown_row = matrix_.rows.shown_at(row);
  std::string body = pen_.own(bracket.left);
  for (Index column = columns.first; column < columns.last; ++column) {
    const std::string number = text(row, column);
    const int fraction = fraction_width(number);
    const int missing = fraction > 0 ? columns_[static_cast<std::size_t>(column)].fraction_width - fraction : 0;
    const std::string aligned = pad_left(number + spaces(missing), column_width(style, column));
    const std::optional<Index> shown = matrix_.columns.shown_at(column);
    const Cell cell = shown_row && shown ? matrix_.cell(*shown_row, *shown) : Cell{};
    body += separator(style, column, columns) +
            pen_.cell(spaces(space_before(style, column, columns)) + aligned + spaces(space_after(style, column, columns)),
                      cell);
  }
  body += pen_.own(bracket.right);
  const bool has_sum = shown_row && !matrix_.row_sums.empty();
  return framed(style, columns, row_label(row, style.row_label_width), body,
                has_sum ? matrix_.row_sums[static_cast<std::size_t>(*shown_row)] : "");
}

Box MatrixDrawing::draw(const MatrixStyle& style, DrawnColumns columns) const {
  Box box;
  box.width = width(style, columns);
  const bool labelled = style.column_labels && !matrix_.column_labels.empty();
  if (style.symbol && !matrix_.symbol.empty()) {
    MatrixStyle whole = style;  // the name has the frame to itself
    whole.symbol = false;
    const std::string name = centred(pen_.own(matrix_.symbol), frame_width(style, columns));
    box.lines.push_back(framed(whole, columns, "", name, labelled ? "" : pen_.own("Σ")));
  }
  if (!matrix_.groups.empty()) box.lines.push_back(group_line(style, columns));
  if (labelled) box.lines.push_back(label_line(style, columns));
  box.axis = static_cast<int>(box.lines.size()) + middle(matrix_.rows.drawn());
  for (Index row = 0; row < matrix_.rows.drawn(); ++row) box.lines.push_back(row_line(style, columns, row));
  return box;
}

}  // namespace mha::show
