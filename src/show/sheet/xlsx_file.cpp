// A workbook of cells. libxlsxwriter is loaded when the first one is written: it brings a cryptography library along, which
// would double the time that `mha run` takes to start.
#include "show/sheet/xlsx_file.hpp"

#include <dlfcn.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.hpp"

namespace mha::show {
namespace {

#ifdef MHA_XLSXWRITER
void* xlsx_symbol(const char* name) {
  static void* const library = dlopen(MHA_XLSXWRITER, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr)
    throw Error({".xlsx files need libxlsxwriter ({}), which is not here; install it, or write -o steps.csv",
                 ".xlsx 文件需要 libxlsxwriter（{}），而这里没有；请安装，或写成 -o steps.csv"},
                MHA_XLSXWRITER);
  return symbol;
}
#define MHA_XLSX(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(xlsx_symbol(#name))
#else
#define MHA_XLSX(name) decltype(&::name) name = &::name
#endif

struct Xlsxwriter {
  MHA_XLSX(workbook_new);
  MHA_XLSX(workbook_add_worksheet);
  MHA_XLSX(workbook_add_format);
  MHA_XLSX(workbook_set_properties);
  MHA_XLSX(workbook_define_name);
  MHA_XLSX(workbook_close);
  MHA_XLSX(worksheet_write_string);
  MHA_XLSX(worksheet_write_number);
  MHA_XLSX(worksheet_write_blank);
  MHA_XLSX(worksheet_write_formula_num);
  MHA_XLSX(worksheet_set_column);
  MHA_XLSX(worksheet_conditional_format_range);
  MHA_XLSX(format_set_bold);
  MHA_XLSX(format_set_font_size);
  MHA_XLSX(format_set_font_color);
  MHA_XLSX(format_set_bg_color);
  MHA_XLSX(format_set_fg_color);
  MHA_XLSX(format_set_pattern);
  MHA_XLSX(format_set_align);
  MHA_XLSX(format_set_border);
  MHA_XLSX(format_set_border_color);
  MHA_XLSX(format_set_num_format);
};
#undef MHA_XLSX

const Xlsxwriter& xlsxwriter() {
  static const Xlsxwriter library;
  return library;
}

constexpr lxw_color_t grey = 0x656D76, blue = 0x0550AE, red = 0xCF222E, line_grey = 0xD0D7DE, pale_yellow = 0xFFF8C5,
                      white = 0xFFFFFF, full_blue = 0x54AEFF;

void expect_fine(lxw_error error) {
  if (error == LXW_NO_ERROR) return;
  throw Error(
      {"a sheet has no room for this page: 1,048,576 rows, 16,384 columns, 32,767 characters in a cell; leave out "
       "--full, or write -o steps.csv",
       "工作表容不下这个页面：最多 1,048,576 行、16,384 列，每格 32,767 个字符；请去掉 --full，或写成 -o steps.csv"});
}

lxw_row_t row_of(const Cells& at) {
  return static_cast<lxw_row_t>(at.row);
}

lxw_col_t column_of(const Cells& at) {
  return static_cast<lxw_col_t>(std::min(at.column, 0xFFFF));  // which is beyond all sheets as well
}

Error not_written() {
  return Error(say({"no temporary file could be written for the .xlsx; point TMPDIR at a folder with room",
                    "无法为 .xlsx 写临时文件；请让 TMPDIR 指向一个有空间的文件夹"}),
               Exit::no_output);
}

}  // namespace

XlsxFile::XlsxFile(const std::vector<std::string>& sheets) {
  const Xlsxwriter& library = xlsxwriter();
  std::error_code none;
  path_ = (std::filesystem::temp_directory_path(none) / "mha-XXXXXX").string();
  const int file = mkstemp(path_.data());
  if (file < 0) throw not_written();
  close(file);
  workbook_ = library.workbook_new(path_.c_str());
  lxw_doc_properties properties{};
  properties.created = 315'532'800;  // 1980, as the entries of the archive say: the same page is the same file
  library.workbook_set_properties(workbook_, &properties);
  for (const std::string& sheet : sheets) sheets_.push_back(library.workbook_add_worksheet(workbook_, sheet.c_str()));
}

XlsxFile::~XlsxFile() {
  if (workbook_ != nullptr) xlsxwriter().workbook_close(workbook_);
  unlink(path_.c_str());
}

lxw_format* XlsxFile::format(CellLook look, const std::string& numbers) {
  lxw_format*& format = formats_[{look, numbers}];
  if (format != nullptr) return format;
  const Xlsxwriter& library = xlsxwriter();
  format = library.workbook_add_format(workbook_);
  if (!numbers.empty()) library.format_set_num_format(format, numbers.c_str());
  const auto is_cell = [&] {
    library.format_set_border(format, LXW_BORDER_THIN);
    library.format_set_border_color(format, line_grey);
    library.format_set_align(format, LXW_ALIGN_RIGHT);
  };
  switch (look) {
    case CellLook::text: break;
    case CellLook::title: library.format_set_font_size(format, 14); [[fallthrough]];
    case CellLook::heading: library.format_set_bold(format); break;
    case CellLook::caption: library.format_set_font_color(format, grey); break;
    case CellLook::label:
      library.format_set_font_color(format, grey);
      library.format_set_align(format, LXW_ALIGN_RIGHT);
      break;
    case CellLook::sign: library.format_set_align(format, LXW_ALIGN_CENTER); break;
    case CellLook::given:
      is_cell();
      library.format_set_font_color(format, blue);
      library.format_set_bg_color(format, pale_yellow);
      break;
    case CellLook::computed: is_cell(); break;
    case CellLook::repeated:
      is_cell();
      library.format_set_font_color(format, grey);
      break;
    case CellLook::hidden:
      library.format_set_pattern(format, LXW_PATTERN_LIGHT_UP);
      library.format_set_fg_color(format, line_grey);
      break;
    case CellLook::wrong:
      is_cell();
      library.format_set_font_color(format, red);
      library.format_set_bold(format);
      break;
  }
  return format;
}

void XlsxFile::put_text(const Cells& at, const std::string& text, CellLook look) {
  expect_fine(
      xlsxwriter().worksheet_write_string(sheets_[at.sheet], row_of(at), column_of(at), text.c_str(), format(look, "")));
}

void XlsxFile::put_number(const Cells& at, double number, CellLook look, const std::string& numbers) {
  expect_fine(
      xlsxwriter().worksheet_write_number(sheets_[at.sheet], row_of(at), column_of(at), number, format(look, numbers)));
}

void XlsxFile::put_blank(const Cells& at, CellLook look) {
  expect_fine(xlsxwriter().worksheet_write_blank(sheets_[at.sheet], row_of(at), column_of(at), format(look, "")));
}

void XlsxFile::put_formula(const Cells& at, const std::string& formula, double value, CellLook look,
                           const std::string& numbers) {
  expect_fine(xlsxwriter().worksheet_write_formula_num(sheets_[at.sheet], row_of(at), column_of(at),
                                                       ("=" + formula).c_str(), format(look, numbers), value));
}

void XlsxFile::set_first_column(std::size_t sheet, double width) {
  xlsxwriter().worksheet_set_column(sheets_[sheet], 0, 0, width, nullptr);
}

void XlsxFile::name(const std::string& name, const std::string& cells) {
  expect_fine(xlsxwriter().workbook_define_name(workbook_, name.c_str(), ("=" + cells).c_str()));
}

void XlsxFile::add_condition(const Cells& cells, lxw_conditional_format& condition) {
  expect_fine(xlsxwriter().worksheet_conditional_format_range(sheets_[cells.sheet], row_of(cells), column_of(cells),
                                                              static_cast<lxw_row_t>(cells.last_row),
                                                              static_cast<lxw_col_t>(cells.last_column), &condition));
}

void XlsxFile::show_hidden(const Cells& scores, double hidden, const std::string& numbers) {
  lxw_conditional_format condition{};
  condition.type = LXW_CONDITIONAL_TYPE_CELL;
  condition.criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO;
  condition.value = hidden;
  condition.format = format(CellLook::hidden, numbers);
  add_condition(scores, condition);
}

void XlsxFile::shade(const Cells& weights) {
  lxw_conditional_format scale{};
  scale.type = LXW_CONDITIONAL_2_COLOR_SCALE;
  scale.min_rule_type = scale.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER;
  scale.min_value = 0;
  scale.max_value = 1;
  scale.min_color = white;
  scale.max_color = full_blue;
  add_condition(weights, scale);
}

std::string XlsxFile::bytes() {
  const lxw_error error = xlsxwriter().workbook_close(std::exchange(workbook_, nullptr));
  std::ifstream file(path_, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (error != LXW_NO_ERROR || bytes.empty()) throw not_written();
  return bytes;
}

}  // namespace mha::show
