// A workbook of cells, made by libxlsxwriter.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

struct lxw_conditional_format;
struct lxw_format;
struct lxw_workbook;
struct lxw_worksheet;

namespace mha::show {

// How a cell looks.
enum class CellLook { text, title, heading, caption, label, sign, given, computed, repeated, hidden, wrong };

// Rows and columns from 0, both ends within.
struct Cells {
  std::size_t sheet = 0;
  int row = 0, column = 0, last_row = 0, last_column = 0;
};

// Every function throws Error where the library is not here or a cell is beyond what a sheet can hold.
class XlsxFile {
 public:
  explicit XlsxFile(const std::vector<std::string>& sheets);
  XlsxFile(const XlsxFile&) = delete;
  XlsxFile& operator=(const XlsxFile&) = delete;
  ~XlsxFile();

  // `numbers` is a number format, "0.000" or "General".
  void put_text(const Cells& at, const std::string& text, CellLook look);
  void put_number(const Cells& at, double number, CellLook look, const std::string& numbers);
  void put_blank(const Cells& at, CellLook look);
  // `value` is what it gives.
  void put_formula(const Cells& at, const std::string& formula, double value, CellLook look, const std::string& numbers);
  void set_first_column(std::size_t sheet, double width);
  void name(const std::string& name, const std::string& cells);
  // From white for 0 to blue for 1.
  void shade(const Cells& weights);
  // Hatched where they are this number, which reads so.
  void show_hidden(const Cells& cells, double hidden, const std::string& numbers);

  // The file. Nothing can be put into it any more.
  std::string bytes();

 private:
  void add_condition(const Cells& cells, lxw_conditional_format& condition);
  lxw_format* format(CellLook look, const std::string& numbers);

  std::string path_;  // of a temporary file
  lxw_workbook* workbook_ = nullptr;
  std::vector<lxw_worksheet*> sheets_;
  std::map<std::pair<CellLook, std::string>, lxw_format*> formats_;
};

}  // namespace mha::show
