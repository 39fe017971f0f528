// An answer from a workbook: the cells whose names `mha run -o sheet.xlsx` gave them, with the numbers as they were saved.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/step.hpp"
#include "core/utf8.hpp"
#include "io/arrays/zip_archive.hpp"
#include "io/json/reader.hpp"
#include "io/problem/answer.hpp"

namespace mha::io {
namespace {

constexpr Text xlsx_kind{"this is no sound .xlsx file, which is a zip archive of XML",
                         "这不是完好的 .xlsx 文件（.xlsx 是 XML 的 zip 压缩包）"};
constexpr const char* shared_strings = "xl/sharedStrings.xml";
constexpr Text never_computed{
    "a formula that was never computed (open the file in a spreadsheet program and save it there)",
    "一个从未计算过的公式（请在电子表格软件中打开并保存）"};
constexpr std::size_t most_bytes = std::size_t(64) << 20;  // of one part, decompressed
constexpr Index most_named_cells = 1'000'000;
constexpr double hidden_number = -1e299;  // what stands for −∞ in a sheet is far below

// The tags of an XML text one after another, and the text between them. Names lose their prefix.
class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : rest_(text) {}

  // To the next tag; false at the end.
  bool next() {
    text_.clear();
    for (;;) {
      const std::size_t open = std::min(rest_.find('<'), rest_.size());
      add_text(rest_.substr(0, open));
      rest_.remove_prefix(open);
      if (rest_.empty()) return false;
      if (rest_.starts_with("<![CDATA[")) {
        text_ += taken_to("]]>").substr(9);
      } else if (rest_.starts_with("<!--")) {
        taken_to("-->");
      } else if (rest_.starts_with("<?") || rest_.starts_with("<!")) {
        taken_to(">");
      } else {
        tag_ = taken_to(">").substr(1);
        closes_ = tag_.starts_with('/');
        if (closes_) tag_.remove_prefix(1);
        name_ = tag_.substr(0, tag_.find_first_of(" \t\r\n/"));
        name_.remove_prefix(name_.find(':') + 1);
        if (root_.empty()) root_ = name_;
        return true;
      }
    }
  }

  bool opens(std::string_view name) const { return !closes_ && name_ == name; }
  bool closes(std::string_view name) const { return name_ == name && (closes_ || tag_.ends_with('/')); }
  const std::string& text() const { return text_; }  // before this tag
  // At the end: whether the first tag was closed by the last one.
  bool is_whole() const { return !root_.empty() && closes(root_); }

  std::string attribute(std::string_view name) {
    for (std::size_t at = tag_.find(name); at != std::string_view::npos; at = tag_.find(name, at + 1)) {
      const std::string_view after = tag_.substr(at + name.size());
      const bool is_it = at > 0 && std::string_view(" \t\r\n:").find(tag_[at - 1]) != std::string_view::npos;
      if (!is_it || after.size() < 2 || after[0] != '=') continue;
      const std::string before = std::exchange(text_, "");
      add_text(after.substr(2, after.find(after[1], 2) - 2));
      return std::exchange(text_, before);
    }
    return "";
  }

 private:
  // Up to the end of what ends so.
  std::string_view taken_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
    return taken;
  }

  void add_text(std::string_view written) {
    constexpr std::array<std::pair<std::string_view, char>, 6> entities{
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}}};
    while (!written.empty()) {
      const auto entity =
          std::find_if(entities.begin(), entities.end(), [&](const auto& e) { return written.starts_with(e.first); });
      text_ += entity == entities.end() ? written.front() : entity->second;
      written.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
    }
  }

  std::string_view rest_, tag_, name_, root_;
  bool closes_ = false;
  std::string text_;
};

struct SheetCell {
  std::uint32_t row = 0, column = 0;  // from 1

  std::uint64_t key() const { return std::uint64_t{row} << 32 | column; }
};

// "$B$7", "B7"; nothing for anything else.
std::optional<SheetCell> sheet_cell(std::string text) {
  std::erase(text, '$');
  SheetCell cell;
  std::size_t letters = 0;
  for (; letters < text.size() && letters < 3 && text[letters] >= 'A' && text[letters] <= 'Z'; ++letters)
    cell.column = cell.column * 26 + static_cast<std::uint32_t>(text[letters] - 'A' + 1);
  const std::optional<std::int64_t> row = whole_number(std::string_view(text).substr(letters));
  if (letters == 0 || !row || *row < 1 || *row > 1'048'576) return std::nullopt;
  cell.row = static_cast<std::uint32_t>(*row);
  return cell;
}

// "weights1", "layer2.output", "dW_Q1" for "A1_weights", "layer2.Y", "dW_Q1"; empty for a name that means no step.
std::string answer_key(const std::string& name) {
  const std::string_view own = without_layer(name);
  for (const std::string_view numbered : {own.substr(0, own.find('_')), own}) {
    const std::string head(numbered.substr(numbered.find_last_not_of("0123456789") + 1));
    for (const StepName& step : row_names)
      if (cells_name(step.step, step.per_head ? head : "") == own)
        return name.substr(0, name.size() - own.size()) + std::string(step.id) + (step.per_head ? head : "");
  }
  return "";
}

class WorkbookReader {
 public:
  explicit WorkbookReader(const std::string& path)
      : path_(path), zip_(std::make_shared<const MappedFile>(path), xlsx_kind) {}

  bool names_steps() {
    read_names();
    return !grids_.empty();
  }

  Node read() {
    if (!names_steps())
      throw Error({"{}: none of its cells are named as steps are (A1_weights, Y); hand in the sheet that `mha run … -o "
                   "sheet.xlsx` or `mha exercise` writes, saved as .xlsx with its names, or a steps.csv",
                   "{}：其中没有以步骤命名的单元格（A1_weights、Y）；请交 `mha run … -o sheet.xlsx` 或 `mha exercise` "
                   "写出的工作簿，存为 .xlsx 并保留名称，或交 steps.csv"},
                  path_);
    if (zip_.find(shared_strings) != nullptr)
      walk(shared_strings, [&](XmlTags& tags) {
        if (tags.opens("si")) strings_.emplace_back();
        if (tags.closes("t") && !strings_.empty()) strings_.back() += tags.text();
      });
    for (const auto& [sheet, slots] : wanted_) read_sheet(sheet);
    Object object;
    for (auto& [key, grid] : grids_) {
      for (std::size_t i = 0; i < grid.numbers.size(); ++i)
        if (std::isnan(grid.numbers[i])) grid.nulls.push_back(i);
      object.push_back({key, {}, {{}, key, std::move(grid)}});
    }
    return {{}, "", std::move(object)};
  }

 private:
  struct Slot {
    Grid* grid;
    std::size_t place;
  };

  // Calls visit(tags) at each tag of this part of the archive.
  template <typename Visit>
  void walk(const std::string& name, Visit visit) const {
    const std::string text = part(name);
    XmlTags tags(text);
    while (tags.next()) visit(tags);
    if (!tags.is_whole())
      throw Error({"{}: {}: {} is cut off, or no XML in UTF-8", "{}：{}：{} 不完整，或不是 UTF-8 的 XML"}, path_, xlsx_kind,
                  name);
  }

  std::string part(const std::string& name) const {
    const ZipEntry* const entry = zip_.find(name);
    if (entry == nullptr) throw Error({"{}: {}: {} is missing", "{}：{}：缺少 {}"}, path_, xlsx_kind, name);
    if (entry->size > most_bytes)
      throw Error(
          {"{}: {} holds more than {} bytes, which is no sheet of an exercise", "{}：{} 超过 {} 字节，不是练习的工作簿"},
          path_, name, most_bytes);
    const std::vector<std::byte> bytes = zip_.read(*entry, entry->size, fmt::format("{} · {}", path_, name));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void read_names() {
    std::string name;
    walk("xl/workbook.xml", [&](XmlTags& tags) {
      if (tags.opens("sheet")) sheet_ids_[tags.attribute("name")] = tags.attribute("id");
      // A name of one sheet alone comes of a sheet that was copied.
      if (tags.opens("definedName") && tags.attribute("localSheetId").empty()) name = tags.attribute("name");
      if (tags.closes("definedName") && !name.empty()) add_range(std::exchange(name, ""), tags.text());
    });
  }

  // "'Head 1 of 2'!$B$68:$E$71"
  void add_range(const std::string& name, const std::string& range) {
    const std::string key = answer_key(name);
    if (key.empty()) return;
    const std::size_t mark = std::min(range.rfind('!'), range.size());
    std::string sheet = range.substr(0, mark);
    if (sheet.starts_with('\'')) sheet = sheet.substr(1, sheet.size() - 2);
    const std::string cells = range.substr(std::min(mark + 1, range.size()));
    const auto first = sheet_cell(cells.substr(0, cells.find(':')));
    const auto last = sheet_cell(cells.substr(cells.find(':') + 1));
    const Index rows = first && last ? Index{last->row} - first->row + 1 : 0;
    const Index columns = first && last ? Index{last->column} - first->column + 1 : 0;
    if (rows < 1 || columns < 1 || rows > most_named_cells / columns - named_cells_ / columns)
      throw Error({"{}: the name {} stands for {}; it should stand for the cells of one matrix",
                   "{}：名称 {} 指的是 {}；它应指一个矩阵的单元格"},
                  path_, escape(name), quote(range));
    named_cells_ += rows * columns;
    const auto [place, is_new] = grids_.try_emplace(key);
    if (!is_new)
      throw Error({"{}: the name {} is given twice; leave one of them", "{}：名称 {} 给出了两次；请只留一个"}, path_,
                  escape(name));
    Grid& grid = place->second;
    grid.axes = {rows, columns};
    grid.writing.resize(1);
    grid.numbers = Numbers(static_cast<std::size_t>(rows * columns));
    std::fill_n(grid.numbers.data(), grid.numbers.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < grid.numbers.size(); ++i) {
      const SheetCell cell{first->row + static_cast<std::uint32_t>(i / static_cast<std::size_t>(columns)),
                           first->column + static_cast<std::uint32_t>(i % static_cast<std::size_t>(columns))};
      wanted_[sheet].emplace(cell.key(), Slot{&grid, i});
    }
  }

  std::string file_of(const std::string& sheet) const {
    const auto id = sheet_ids_.find(sheet);
    std::string target;
    walk("xl/_rels/workbook.xml.rels", [&](XmlTags& tags) {
      if (id != sheet_ids_.end() && tags.opens("Relationship") && tags.attribute("Id") == id->second)
        target = tags.attribute("Target");
    });
    if (!target.empty()) return target.starts_with('/') ? target.substr(1) : "xl/" + target;
    throw Error({"{}: a name stands for cells of a sheet {}, which is not there", "{}：有名称指向工作表 {}，而它不存在"},
                path_, quote(sheet));
  }

  void read_sheet(const std::string& sheet) {
    std::string place, type, value;
    bool computes = false;
    walk(file_of(sheet), [&](XmlTags& tags) {
      if (tags.opens("c")) place = tags.attribute("r"), type = tags.attribute("t"), value.clear(), computes = false;
      if (tags.opens("f")) computes = true;
      if (tags.closes("v") || tags.closes("t")) value += tags.text();
      if (!tags.closes("c")) return;
      if (const std::optional<SheetCell> cell = sheet_cell(place)) fill(sheet, place, *cell, type, value, computes);
    });
  }

  // A cell counts once: one that stands there again changes nothing.
  void fill(const std::string& sheet, const std::string& place, const SheetCell& cell, std::string type, std::string value,
            bool computes) {
    auto& slots = wanted_[sheet];
    const auto [begin, end] = slots.equal_range(cell.key());
    if (begin == end) return;
    if (const std::optional<std::int64_t> index = whole_number(value); type == "s" && index)
      if (*index < static_cast<std::int64_t>(strings_.size()))
        value = strings_[static_cast<std::size_t>(*index)], type = "";
    const bool is_number = type != "s" && type != "b";  // no place in the strings, and neither TRUE nor FALSE
    const std::string written = value;
    const std::optional<double> number = is_number ? number_of(value) : std::nullopt;
    const bool uncomputed = computes && value.empty() && type != "str" && !std::exchange(told_uncomputed_, true);
    for (auto slot = begin; slot != end; ++slot) {
      Grid& grid = *slot->second.grid;
      if (number) grid.numbers[slot->second.place] = *number;
      if (number && std::isfinite(*number)) grid.writing.front().see(value, *number);
      if (!number && grid.odd.empty() && (uncomputed || !value.empty()))
        grid.odd.push_back({OddEntry::Kind::text,
                            {},
                            fmt::format("{}, {}", quote(sheet), place),
                            uncomputed ? say(never_computed) : say({"the text {}", "文本 {}"}, quote(written))});
    }
    slots.erase(begin, end);
  }

  static std::optional<double> number_of(std::string& text) {
    const std::optional<double> number = spelled_number(text);
    if (!number || std::isnan(*number)) return std::nullopt;
    return *number < hidden_number ? -std::numeric_limits<double>::infinity() : *number;
  }

  const std::string& path_;
  ZipArchive zip_;
  std::map<std::string, std::string> sheet_ids_;
  std::map<std::string, Grid> grids_;
  std::map<std::string, std::unordered_multimap<std::uint64_t, Slot>> wanted_;  // by sheet and cell
  std::vector<std::string> strings_;
  Index named_cells_ = 0;
  bool told_uncomputed_ = false;
};

}  // namespace

Node read_workbook(const std::string& path) {
  return WorkbookReader(path).read();
}

bool names_steps(const std::string& path) {
  return WorkbookReader(path).names_steps();
}

}  // namespace mha::io
