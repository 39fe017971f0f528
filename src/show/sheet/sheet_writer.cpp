// Writes a page as a workbook: first every matrix gets its place, then cells refer to each other by these.
#include "show/writers.hpp"

#include <charconv>

#include "core/utf8.hpp"
#include "show/sheet/xlsx_file.hpp"

namespace mha::show {
namespace {

constexpr Text first_sheet{"Start", "开始"};
constexpr std::string_view first_of_both = "Start 开始";
constexpr Text live_text{
    "What is blue on yellow can be changed: X, the weights, the masks (a text such as −∞ hides an entry). Everything else "
    "is "
    "computed from it by the formulas in the cells and follows.",
    "黄底蓝字的单元格可以修改：X、权重矩阵、掩码（写文字如 −∞ 即遮住该元素）。其余各格由公式算出，会随之改变。"};
constexpr Text values_text{
    "Values only, no formulas: cells compute one problem without batch, rotary positions and gradients, in float64, with "
    "at "
    "most 5,000 computed entries.",
    "这里只有数值，没有公式：单元格公式只用于不带批量、旋转位置和梯度的双精度题目，且最多 5,000 个计算出的元素。"};

// "AB"
std::string column_letters(int column) {
  std::string letters;
  for (int rest = column; rest >= 0; rest = rest / 26 - 1)
    letters.insert(letters.begin(), static_cast<char>('A' + rest % 26));
  return letters;
}

// "B3:E3"; `fix` is "$" for what stays where it is when it is copied.
std::string cells_text(const Cells& cells, std::string_view fix = "") {
  const auto one = [&](int row, int column) { return fmt::format("{0}{1}{0}{2}", fix, column_letters(column), row + 1); };
  const std::string first = one(cells.row, cells.column), last = one(cells.last_row, cells.last_column);
  return first == last ? first : first + ":" + last;
}

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || stop != text.data() + text.size() || std::isnan(number)) return std::nullopt;
  return number;
}

// As many decimals as the page shows; whole numbers may get some when what they follow from is changed.
std::string number_format(const Matrix& matrix) {
  std::size_t decimals = 0;
  for (const Cell& cell : matrix.cells)
    if (const std::size_t point = cell.text.find('.'); point != std::string::npos && number_in(cell.text))
      decimals = std::max(decimals, cell.text.size() - point - 1);
  return decimals == 0 ? "General" : "0." + std::string(decimals, '0');
}

// Where a matrix stands whole.
struct PlacedMatrix {
  const Matrix* matrix;
  Cells cells;  // its first

  bool computes() const { return !matrix->sources->formulas.empty(); }
};

class SheetWriter {
 public:
  explicit SheetWriter(const Document& document)
      : page_(document),
        document_(in_both_languages(document)),
        names_{std::string(document.translation.empty() ? first_sheet.in(document.language) : first_of_both)} {}

  std::string write() {
    go_through_blocks();
    is_live_ = std::any_of(places_.begin(), places_.end(), [](const auto& place) { return place.second.computes(); });
    row_ = 0;
    sheet_ = 0;
    tells_ = false;
    XlsxFile file(names_);
    file_ = &file;
    go_through_blocks();
    for (const auto& [name, place] : places_) add_name(place);
    return file.bytes();
  }

 private:
  // Without a file, only the places are found.
  void go_through_blocks() {
    for (const Block& block : document_.blocks) std::visit([this](const auto& content) { write(content); }, block);
  }

  static std::string words(const Words& words) { return visible(words.plain()); }
  static std::string joined(const std::vector<Words>& parts) {
    std::string text;
    for (const Words& part : parts) text += (text.empty() ? "" : " · ") + words(part);
    return text;
  }

  void put(int row, int column, const std::string& text, CellLook look) {
    if (file_ != nullptr && !text.empty()) file_->put_text({sheet_, row, column}, text, look);
  }
  void line(const std::string& text, CellLook look) { put(row_++, 0, text, look); }

  void write(const Title& title) { line(joined(title.parts), CellLook::title); }
  void write(const Facts& facts) {
    line(joined(facts.parts), CellLook::text);
    if (!tells_ && holds_numbers()) line(say(page_, is_live_ ? live_text : values_text), CellLook::text);
    tells_ = true;
  }

  // Those of a computation, which might be formulas, and none to be filled in.
  bool holds_numbers() const {
    bool any = false;
    for (const Block& block : document_.blocks)
      if (const auto* equation = std::get_if<Equation>(&block))
        for (const Equation::Part& part : equation->parts)
          if (const auto* matrix = std::get_if<Matrix>(&part); matrix != nullptr && matrix->sources) {
            if (matrix->sources->to_be_filled_in()) return false;
            any = true;
          }
    return any;
  }

  // A sheet of its own. Its name has at most 31 characters, none of them []:*?/\', and is no other's.
  void write(const Section& section) {
    row_ = 0;
    if (file_ == nullptr) {
      std::string name;
      const bool is_item = section.level == Section::Level::item;
      const std::string own = joined(section.parts), whole = is_item || own.starts_with(item_) ? own : item_ + " · " + own;
      if (is_item) item_ = words(section.parts.front());
      std::size_t left = 29;
      for (std::string_view rest = whole; !rest.empty() && left > 0; --left) {
        const std::string_view character = take_character(rest).bytes;
        name += std::string_view("[]:*?/\\'").find(character) == std::string_view::npos ? character : " ";
      }
      std::string unlike = name;
      for (int i = 2; std::find(names_.begin(), names_.end(), unlike) != names_.end(); ++i)
        unlike = fmt::format("{} {}", name, i);
      names_.push_back(unlike);
    }
    ++sheet_;
    line(joined(section.parts), CellLook::title);
  }

  void write(const StepHeading& step) {
    ++row_;
    const std::string number = step.number ? fmt::format("{}  ", *step.number) : "";
    line(number + step.title + "   " + step.formula + "   " + step.shapes, CellLook::heading);
  }
  void write(const Note& note) {
    line(words(note.text), note.kind == Note::Kind::paragraph ? CellLook::text : CellLook::caption);
  }
  void write(const Work& work) {
    std::string text = work.entry;
    for (const Work::Line& part : work.lines) text += " " + part.relation + " " + part.expression;
    line(text, CellLook::text);
  }

  void write(const Table& table) {
    for (std::size_t i = 0; i < table.header.size(); ++i)
      put(row_, static_cast<int>(i), table.header[i], CellLook::heading);
    row_ += table.header.empty() ? 0 : 1;
    for (const std::vector<Words>& cells : table.rows) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        put_value(row_, static_cast<int>(i), words(cells[i]), CellLook::text, "General");
      ++row_;
    }
    ++row_;
  }

  // A number where the text is one.
  void put_value(int row, int column, const std::string& text, CellLook look, const std::string& format) {
    const std::optional<double> number = number_in(text);
    if (!number)
      put(row, column, text, look);
    else if (file_ != nullptr && std::isfinite(*number))
      file_->put_number({sheet_, row, column}, *number, look, format);
    else if (file_ != nullptr && *number < 0 && look != CellLook::given)
      file_->put_number({sheet_, row, column}, hidden_in_cells, look, format);
    else
      put(row, column, *number < 0 ? "−∞" : "∞", look);
  }

  // Matrices beside each other, in column A the labels that they share.
  void write(const Equation& equation) {
    const std::vector<std::string>* labels = nullptr;
    int column = 0, last = row_;
    const int signs = row_ + 2;
    for (const Equation::Part& part : equation.parts) {
      if (const auto* sign = std::get_if<std::string>(&part)) {
        put(signs, std::max(column, 1), *sign, CellLook::sign);
        column = std::max(column, 1) + 1;
        continue;
      }
      const Matrix& matrix = std::get<Matrix>(part);
      const bool labelled = labels == nullptr || (*labels != matrix.row_labels && !matrix.row_labels.empty());
      if (labelled) add_row_labels(matrix, column++);
      if (labels == nullptr) labels = &matrix.row_labels;
      add_matrix(matrix, row_ + 2, column);
      column += static_cast<int>(matrix.columns.drawn()) + (matrix.row_sums.empty() ? 0 : 1);
      last = std::max(last, row_ + 2 + static_cast<int>(matrix.rows.drawn()));
    }
    row_ = last + 1;
  }

  void add_row_labels(const Matrix& matrix, int column) {
    std::size_t width = 10;
    for (Index line = 0; line < matrix.rows.drawn() && !matrix.row_labels.empty(); ++line)
      if (const std::optional<Index> shown = matrix.rows.shown_at(line)) {
        const std::string label = visible(matrix.row_labels[static_cast<std::size_t>(*shown)]);
        put(row_ + 2 + static_cast<int>(line), column, label, CellLook::label);
        width = std::max(width, std::min<std::size_t>(label.size(), 30) + 2);
      }
    if (file_ != nullptr && column == 0 && width > std::exchange(widths_[sheet_], std::max(widths_[sheet_], width)))
      file_->set_first_column(sheet_, static_cast<double>(width));
  }

  void add_matrix(const Matrix& matrix, int row, int column) {
    const Cells cells{sheet_, row, column, row + static_cast<int>(matrix.rows.drawn()) - 1,
                      column + static_cast<int>(matrix.columns.drawn()) - 1};
    if (file_ == nullptr) return keep_place(matrix, cells);
    put(row - 2, column, matrix.symbol, CellLook::heading);
    for (Index line = 0; line < matrix.columns.drawn(); ++line)
      if (const std::optional<Index> shown = matrix.columns.shown_at(line); shown && !matrix.column_labels.empty())
        put(row - 1, column + static_cast<int>(line), visible(matrix.column_labels[static_cast<std::size_t>(*shown)]),
            CellLook::label);
    const std::string format = number_format(matrix);
    const bool computed = is_computed(matrix);
    bool any_hidden = false;
    for (Index i = 0; i < matrix.rows.drawn(); ++i)
      for (Index j = 0; j < matrix.columns.drawn(); ++j) {
        const std::optional<Index> at_row = matrix.rows.shown_at(i), at_column = matrix.columns.shown_at(j);
        const int r = row + static_cast<int>(i), c = column + static_cast<int>(j);
        if (!at_row || !at_column) put(r, c, at_row ? "⋯" : "⋮", CellLook::sign);
        if (!at_row || !at_column) continue;
        add_entry(matrix, *at_row, *at_column, {sheet_, r, c}, computed, format);
        any_hidden = any_hidden || matrix.cell(*at_row, *at_column).mark == Cell::Mark::hidden;
      }
    const bool are_weights = !matrix.cells.empty() && matrix.cells.front().shade >= 0;
    if (any_hidden && matrix.sources)
      are_weights ? file_->show_hidden(cells, 0, format) : file_->show_hidden(cells, hidden_in_cells, "\"−∞\"");
    if (are_weights) file_->shade(cells);
    add_row_sums(matrix, cells, computed, format);
  }

  void add_row_sums(const Matrix& matrix, const Cells& cells, bool computed, const std::string& format) {
    if (matrix.row_sums.empty()) return;
    put(cells.row - 1, cells.last_column + 1, "Σ", CellLook::label);
    for (Index line = 0; line < matrix.rows.drawn(); ++line)
      if (const std::optional<Index> shown = matrix.rows.shown_at(line)) {
        const int row = cells.row + static_cast<int>(line);
        const std::string& sum = matrix.row_sums[static_cast<std::size_t>(*shown)];
        if (computed)
          file_->put_formula({sheet_, row, cells.last_column + 1},
                             "SUM(" + cells_text({sheet_, row, cells.column, row, cells.last_column}) + ")",
                             number_in(sum).value_or(0), CellLook::repeated, format);
        else
          put_value(row, cells.last_column + 1, sum, CellLook::repeated, format);
      }
  }

  // Of several places the one where cells compute it, else the first.
  void keep_place(const Matrix& matrix, const Cells& cells) {
    if (!matrix.sources || !matrix.rows.all() || !matrix.columns.all()) return;
    const auto [known, is_new] = places_.try_emplace(matrix.sources->name, PlacedMatrix{&matrix, cells});
    if (!is_new && !known->second.computes() && !matrix.sources->formulas.empty()) known->second = {&matrix, cells};
  }
  const PlacedMatrix* place_of(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &found->second;
  }

  // Whether cells of this page hold all that its formulas need.
  bool is_computed(const Matrix& matrix) const {
    const auto is_here = [this](const auto& part) {
      if constexpr (std::is_same_v<std::decay_t<decltype(part)>, CellRange>) return place_of(part.matrix) != nullptr;
      if constexpr (std::is_same_v<std::decay_t<decltype(part)>, std::array<CellRange, 2>>)
        return place_of(part[0].matrix) != nullptr && place_of(part[1].matrix) != nullptr;
      return true;
    };
    return matrix.sources && !matrix.sources->formulas.empty() &&
           std::all_of(matrix.sources->formulas.begin(), matrix.sources->formulas.end(), [&](const CellFormula& formula) {
             return std::all_of(formula.begin(), formula.end(),
                                [&](const auto& part) { return std::visit(is_here, part); });
           });
  }

  void add_entry(const Matrix& matrix, Index i, Index j, const Cells& to, bool computed, const std::string& format) {
    const Cell& cell = matrix.cell(i, j);
    if (matrix.sources && matrix.sources->to_be_filled_in()) return file_->put_blank(to, CellLook::given);
    if (!matrix.sources) {
      const bool is_wrong = cell.mark == Cell::Mark::wrong;
      return put_value(to.row, to.column, cell.text, is_wrong ? CellLook::wrong : CellLook::computed, format);
    }
    const CellRange own{matrix.sources->name, matrix.transposed ? j : i, matrix.transposed ? i : j};
    const Index stored_columns = matrix.transposed ? matrix.rows.count() : matrix.columns.count();
    const auto at = static_cast<std::size_t>(own.row * stored_columns + own.column);
    const std::string& exact = matrix.sources->exact[at];
    const double value = std::max(number_in(exact).value_or(INFINITY), hidden_in_cells);
    const PlacedMatrix* const place = place_of(own.matrix);
    const bool is_repeated = is_live_ && place != nullptr && place->matrix != &matrix;
    if (std::isfinite(value) && is_repeated)
      file_->put_formula(to, range_text(own), value, CellLook::repeated, format);
    else if (std::isfinite(value) && computed)
      file_->put_formula(to, formula_text(matrix.sources->formulas[at]), value, CellLook::computed, format);
    else
      put_value(to.row, to.column, exact, is_live_ ? CellLook::given : CellLook::computed, format);
  }

  // Where these cells are, a transposed matrix's the other way round.
  Cells cells_of(const CellRange& range) const {
    const PlacedMatrix& place = *place_of(range.matrix);
    const bool turned = place.matrix->transposed;
    const auto down = static_cast<int>(turned ? range.column : range.row),
               right = static_cast<int>(turned ? range.row : range.column);
    const auto rows = static_cast<int>(turned ? range.columns : range.rows),
               columns = static_cast<int>(turned ? range.rows : range.columns);
    const int row = place.cells.row + down, column = place.cells.column + right;
    return {place.cells.sheet, row, column, row + rows - 1, column + columns - 1};
  }
  std::string text_of(const Cells& cells) const {
    return (cells.sheet == sheet_ ? "" : "'" + names_[cells.sheet] + "'!") + cells_text(cells);
  }
  std::string range_text(const CellRange& range) const { return text_of(cells_of(range)); }

  // Of a row and a column the product of matrices, which is one number, where two rows have SUMPRODUCT alone.
  std::string product_text(const CellRange& a, const CellRange& b) const {
    Cells first = cells_of(a), second = cells_of(b);
    const auto is_row = [](const Cells& cells) { return cells.row == cells.last_row; };
    if (is_row(first) == is_row(second)) return "SUMPRODUCT(" + text_of(first) + "," + text_of(second) + ")";
    if (!is_row(first)) std::swap(first, second);
    return "SUMPRODUCT(MMULT(" + text_of(first) + "," + text_of(second) + "))";
  }

  std::string formula_text(const CellFormula& formula) const {
    std::string text;
    for (const auto& part : formula) {
      if (const auto* written = std::get_if<std::string>(&part)) text += *written;
      if (const auto* range = std::get_if<CellRange>(&part)) text += range_text(*range);
      if (const auto* both = std::get_if<std::array<CellRange, 2>>(&part)) text += product_text((*both)[0], (*both)[1]);
    }
    return text;
  }

  void add_name(const PlacedMatrix& place) {
    const std::string& name = place.matrix->sources->cells;
    if (!name.empty() && !place.matrix->transposed)
      file_->name(name, "'" + names_[place.cells.sheet] + "'!" + cells_text(place.cells, "$"));
  }

  const Document& page_;
  Document document_;               // of it, with both languages in one
  std::vector<std::string> names_;  // of the sheets
  std::map<std::string, PlacedMatrix> places_;
  XlsxFile* file_ = nullptr;
  std::size_t sheet_ = 0;
  int row_ = 0;
  std::string item_;  // over the sections of an item or a layer
  bool is_live_ = false, tells_ = false;
  std::map<std::size_t, std::size_t> widths_;  // of the first columns
};

}  // namespace

std::string write_sheet(const Document& document, const TextStyle&) {
  return SheetWriter(document).write();
}

}  // namespace mha::show
