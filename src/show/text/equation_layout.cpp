// Sets an equation of matrices.
#include "show/text/pen.hpp"

#include <fmt/ranges.h>

#include "show/text/matrix_box.hpp"
#include "show/text/wrap.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

// Of a row and of a column, in columns of the page; the short ones where room is short.
constexpr int widest_row_label = 16, short_row_label = 8;
constexpr int short_column_label = 4;

// One way to set all matrices in one line.
struct Density {
  int column_gap;
  int padding;
  int operator_gap;
  bool operand_labels;  // labels over the columns of all matrices, or of the last one only
};
constexpr std::array densities = {Density{2, 1, 2, true}, Density{2, 1, 2, false}, Density{1, 1, 2, false},
                                  Density{1, 1, 1, false}, Density{1, 0, 1, false}};

class EquationLayout {
 public:
  EquationLayout(const Equation& equation, const Pen& pen, const Document& document, int width)
      : pen_(pen), document_(document), width_(width) {
    for (const Equation::Part& part : equation.parts)
      if (const auto* matrix = std::get_if<Matrix>(&part)) {
        terms_.push_back({std::move(operators_), MatrixDrawing(*matrix, pen)});
        operators_.clear();
      } else {
        operators_.push_back(pen.own(std::get<std::string>(part)));
      }
  }

  std::vector<std::string> lines() const {
    for (const Density& density : densities)
      if (side_by_side_width(density) <= width_) return side_by_side(density).lines;
    return stacked();
  }

 private:
  // A matrix and the operators before it: "·", or "× 0.707" and "=".
  struct Term {
    std::vector<std::string> before;
    MatrixDrawing drawing;
  };

  static std::string joined(const std::vector<std::string>& operators, int gap) {
    const std::string space = spaces(gap);
    std::string text;
    for (const std::string& one : operators) text += space + one;
    return operators.empty() ? "" : text + space;
  }

  // Labels that already stand at the left of the line are not repeated.
  bool repeats_row_labels(std::size_t term) const {
    for (std::size_t i = 0; i < term; ++i)
      if (terms_[i].drawing.matrix().row_labels == terms_[term].drawing.matrix().row_labels) return true;
    return false;
  }

  MatrixStyle style_of(std::size_t term, const Density& density) const {
    MatrixStyle style;
    style.gap = density.column_gap;
    style.padding = density.padding;
    style.column_labels = density.operand_labels || term + 1 == terms_.size();
    if (!repeats_row_labels(term))
      style.row_label_width = std::min(terms_[term].drawing.row_label_width(), widest_row_label);
    return style;
  }

  int side_by_side_width(const Density& density) const {
    int width = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      width += terms_[i].drawing.width(style_of(i, density), terms_[i].drawing.all());
      width += display_width(joined(terms_[i].before, density.operator_gap));
    }
    return width;
  }

  Box side_by_side(const Density& density) const {
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      boxes.push_back(text_box(joined(terms_[i].before, density.operator_gap)));
      boxes.push_back(terms_[i].drawing.draw(style_of(i, density), terms_[i].drawing.all()));
    }
    return beside(boxes);
  }

  // Operators stand in a column of their own at the left, so that all brackets line up; all but the last before a matrix
  // on lines of their own. What is told in words in front of the first, the "Concat" of "Concat · W_O", stands in that
  // column as well where the matrices leave the room.
  std::vector<std::string> stacked() const {
    std::vector<std::string> last;
    for (const Term& term : terms_) last.push_back(term.before.empty() ? "" : term.before.back());
    if (terms_.front().before.size() > 1) {
      std::vector<std::string> in_front = last;
      in_front.front() = fmt::format("{}", fmt::join(terms_.front().before, "  "));
      const int room = width_ - column_of(in_front);
      const bool fit = std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
        return (&term == &terms_.front() || term.before.size() <= 1) &&
               fitting_style(term.drawing, row_label_width(room), room).has_value();
      });
      if (fit) return stacked(in_front, true);
    }
    return stacked(last, false);
  }

  static int column_of(const std::vector<std::string>& operators) {
    int width = 0;
    for (const std::string& text : operators) width = std::max(width, display_width(text));
    return width > 0 ? width + 2 : 0;
  }

  std::vector<std::string> stacked(const std::vector<std::string>& operators, bool whole) const {
    const int column = column_of(operators), room = width_ - column, label_width = row_label_width(room);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (!whole)
        for (std::size_t j = 0; j + 1 < terms_[i].before.size(); ++j) lines.push_back(terms_[i].before[j]);
      std::string before = pad_right(whole ? pad_left(operators[i], column - 2) : operators[i], column);
      for (const Box& block : blocks(terms_[i].drawing, label_width, room)) {
        const Box line = beside({text_box(before), block});
        lines.insert(lines.end(), line.lines.begin(), line.lines.end());
        before = spaces(column);
      }
    }
    return lines;
  }

  // One width for all, shorter where some matrix would not fit otherwise.
  int row_label_width(int room) const {
    int wanted = 0;
    for (const Term& term : terms_) wanted = std::max(wanted, term.drawing.row_label_width());
    const int wide = std::min(wanted, widest_row_label);
    for (const Term& term : terms_)
      if (!fitting_style(term.drawing, wide, room)) return std::min(wanted, short_row_label);
    return wide;
  }

  // The most generous style in which the whole matrix fits.
  static std::optional<MatrixStyle> fitting_style(const MatrixDrawing& drawing, int label_width, int room) {
    MatrixStyle style;
    style.row_label_width = label_width;
    MatrixStyle close = style;
    close.gap = 1;
    MatrixStyle closer = close;
    closer.label_limit = short_column_label;
    MatrixStyle closest = closer;
    closest.padding = 0;
    for (const MatrixStyle& choice : {style, close, closer, closest})
      if (drawing.width(choice, drawing.all()) <= room) return choice;
    return std::nullopt;
  }

  // One box if the matrix fits, else one for each range of columns.
  std::vector<Box> blocks(const MatrixDrawing& drawing, int label_width, int room) const {
    if (const std::optional<MatrixStyle> style = fitting_style(drawing, label_width, room))
      return {drawing.draw(*style, drawing.all())};
    MatrixStyle style;
    style.gap = 1;
    style.symbol = false;
    style.row_label_width = label_width;
    style.label_limit = label_limit(drawing, style, room);
    std::vector<Box> boxes;
    for (Index first = 0; first < drawing.all().last;) {
      const DrawnColumns columns = drawing.fitting(style, first, room);
      boxes.push_back(headed(drawing.draw(style, columns), heading(drawing.matrix(), columns), label_width, room));
      first = columns.last;
    }
    return boxes;
  }

  // How long column labels may be for the last column, with the row sums, to fit alone.
  static int label_limit(const MatrixDrawing& drawing, MatrixStyle style, int room) {
    const int longest = style.label_limit;
    style.label_limit = short_column_label;
    const Index last = drawing.all().last;
    return std::clamp(short_column_label + room - drawing.width(style, {last - 1, last}), short_column_label, longest);
  }

  // "Q⁽¹⁾, columns 1–12 of 64"
  std::string heading(const Matrix& matrix, DrawnColumns columns) const {
    const Shown& shown = matrix.columns;
    const std::optional<Index> first = shown.shown_at(columns.first), last = shown.shown_at(columns.last - 1);
    const Index from = first ? shown.place(*first) : shown.before;
    const Index to = last ? shown.place(*last) : shown.size - shown.after - 1;
    return pen_.own(say(document_.language, from == to ? phrase::column_of : phrase::columns_of, matrix.symbol,
                        range_text(from, to, document_.index_base), shown.size));
  }

  Box headed(Box box, const std::string& text, int label_width, int room) const {
    const std::string indent = spaces(label_width > 0 ? label_width + 1 : 0);
    std::vector<std::string> lines = fill(pieces_of(text), room - display_width(indent));
    for (std::string& line : lines) {
      line.insert(0, indent);
      box.width = std::max(box.width, display_width(line));
    }
    box.axis += static_cast<int>(lines.size());
    box.lines.insert(box.lines.begin(), lines.begin(), lines.end());
    return box;
  }

  const Pen& pen_;
  const Document& document_;
  int width_;
  std::vector<std::string> operators_;
  std::vector<Term> terms_;
};

}  // namespace

std::vector<std::string> lay_out(const Equation& equation, const Pen& pen, const Document& document, int width) {
  return EquationLayout(equation, pen, document, width).lines();
}

}  // namespace mha::show
