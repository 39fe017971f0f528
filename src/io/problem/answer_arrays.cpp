// Answers that are no JSON: arrays, and a spreadsheet's table of entries, steps.csv as `run` writes it, with the values
// filled in; each matrix as the grid that its JSON would be.
#include <filesystem>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/array.hpp"
#include "io/arrays/matrix_files.hpp"
#include "io/files/input_file.hpp"
#include "io/json/reader.hpp"
#include "io/problem/answer.hpp"

namespace mha::io {
namespace {

constexpr std::array<std::string_view, 3> array_endings = {".npy", ".npz", ".safetensors"};

// "Y", "A1", as a notebook or `run` names it: "heads.1.weights", "layers.2.heads.1.weights" is "layer2.weights1",
// "gradients.parameters.heads.1.W_Q" is "dW_Q1".
std::string flat_name(std::string_view name, std::string_view before = "") {
  const auto takes = [&](std::string_view prefix) {
    const bool found = name.starts_with(prefix) && name.find('.', prefix.size()) != std::string::npos;
    if (found) name.remove_prefix(prefix.size());
    return found;
  };
  const auto number = [&] {
    std::string text(name.substr(0, name.find('.')));
    name.remove_prefix(text.size() + 1);
    return text;
  };
  constexpr std::string_view gradients = "gradients.", parameters = "parameters.";
  if (name.starts_with(gradients)) return flat_name(name.substr(gradients.size()), "d");
  if (takes("layers.")) {
    const std::string layer = number();
    return "layer" + layer + "." + flat_name(name, before);
  }
  if (!before.empty() && name.starts_with(parameters)) name.remove_prefix(parameters.size());
  const std::string head = takes("heads.") || takes("kv_heads.") ? number() : "";
  return std::string(before) + std::string(name) + head;
}

// Whether the shortest text of a number can have no more digits and decimals than were seen, since no text of its type has
// more than so many digits: 2^(e − 1) ≤ |number| puts the last of them no further behind the point.
bool tells_nothing(const Writing& seen, double number, int most_digits) {
  constexpr double log10_of_2 = 0.30103;
  int e = 0;
  std::frexp(number, &e);
  return !seen.all_in_e_notation && seen.digits >= most_digits &&
         seen.decimals >= most_digits - 1 - static_cast<int>(std::floor((e - 1) * log10_of_2));
}

// The numbers of an array as JSON would have them, in the shortest form that its type reads back.
Grid grid_of(const std::shared_ptr<const StoredArray>& array, const std::string& path) {
  Grid grid;
  grid.file = std::make_shared<const FileMatrix>(array, path);
  grid.axes = array->header.axes;
  if (grid.axes.empty()) throw Error({"{} is a single number, not a matrix", "{} 是单独一个数，不是矩阵"}, array->name);
  grid.numbers = Numbers(array->header.data_bytes() / static_cast<std::size_t>(bytes_of(array->header.type)));
  grid.file->read_addends(grid.numbers.data());
  const bool is_short = bytes_of(array->header.type) < 8;
  const int digits = is_short ? std::numeric_limits<float>::max_digits10 : std::numeric_limits<double>::max_digits10;
  const std::size_t rank = grid.axes.size();
  const auto one = static_cast<std::size_t>(grid.axes.back() * (rank > 1 ? grid.axes[rank - 2] : 1));  // matrix of several
  for (std::size_t i = 0; i < grid.numbers.size(); ++i) {
    if (i % one == 0) grid.writing.emplace_back();
    if (const double number = grid.numbers[i]; std::isfinite(number) && !tells_nothing(grid.writing.back(), number, digits))
      grid.writing.back().see(is_short ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number), number);
  }
  return grid;
}

enum TableColumn : std::size_t {
  layer_column,
  head_column,
  item_column,
  step_column,
  row_column,
  column_column,
  value_column
};
constexpr std::array<std::string_view, 7> table_columns = {"layer", "head", "item", "step", "row", "column", "value"};

struct TableEntry {
  Index item, row, column;
  std::string value;
  Index line;
};

class TableReader {
 public:
  TableReader(const std::string& path, std::string text) : path_(path), text_(std::move(text)), rest_(text_) {
    refuse_other_encodings(rest_);
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    const std::string_view first = rest_.substr(0, rest_.find('\n'));
    for (const char sign : {'\t', ';'})
      if (first.find(sign) != std::string_view::npos) separator_ = sign;
  }

  Node read() {
    const std::vector<std::string> header = fields();
    std::array<std::size_t, table_columns.size()> places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = static_cast<std::size_t>(std::find(header.begin(), header.end(), table_columns[i]) - header.begin());
      if (places[i] == header.size() && i >= step_column)
        throw Error({"{}: no column \"{}\" in its first line; expected the columns that `mha run … -o steps.csv` writes",
                     "{}：第一行中没有“{}”这一列；应为 `mha run … -o steps.csv` 写出的各列"},
                    path_, table_columns[i]);
    }
    while (!rest_.empty()) {
      const Index line = line_;
      const std::vector<std::string> found = fields();
      if (std::all_of(found.begin(), found.end(), [](const std::string& field) { return field.empty(); })) continue;
      if (places[value_column] + 1 == header.size() && found.size() > header.size() && whole_number(found[header.size()]))
        throw Error(
            {"{0}:{1}: found {2},{3} as the value, which is two fields; write {2}.{3}, or \"{2},{3}\" in quotation marks",
             "{0}:{1}：值写作 {2},{3}，成了两栏；请写 {2}.{3}，或加引号写 \"{2},{3}\""},
            path_, line, visible(found[header.size() - 1]), visible(found[header.size()]));
      const auto field = [&](TableColumn column) { return places[column] < found.size() ? found[places[column]] : ""; };
      const auto number = [&](TableColumn column) {
        const std::string text = field(column);
        if (text.empty() && column < step_column) return Index{0};
        const std::optional<std::int64_t> count = whole_number(text);
        if (!count || *count < 1 || *count > most_counted)
          throw Error(
              {"{}:{}: found \"{}\" as {}; expected a number from 1 on", "{}:{}：{} 处写的是“{}”；应为从 1 开始的数"},
              path_, line, visible(text), table_columns[column]);
        return static_cast<Index>(*count);
      };
      const Index layer = number(layer_column), head = number(head_column);
      const std::string name = (layer > 0 ? fmt::format("layer{}.", layer) : "") + field(step_column) +
                               (head > 0 ? fmt::format("{}", head) : "");
      matrices_[name].push_back(
          {number(item_column), number(row_column), number(column_column), field(value_column), line});
    }
    Object object;
    for (const auto& [name, entries] : matrices_) object.push_back({name, {}, {{}, name, grid_of(entries)}});
    return {{}, "", std::move(object)};
  }

 private:
  static constexpr Index most_counted = 10'000'000;

  // Of the next line; one in quotation marks may hold separators, ends of lines and, doubled, quotation marks.
  std::vector<std::string> fields() {
    std::vector<std::string> result(1);
    bool quoted = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\n') ++line_;
      if (c == '"' && quoted && rest_.starts_with('"'))
        result.back() += c, rest_.remove_prefix(1);
      else if (c == '"')
        quoted = !quoted;
      else if (c == separator_ && !quoted)
        result.emplace_back();
      else if (c == '\n' && !quoted)
        break;
      else if (c != '\r' && (c != ' ' || !result.back().empty()))
        result.back() += c;
    }
    for (std::string& field : result) field.erase(field.find_last_not_of(' ') + 1);
    return result;
  }

  // Nothing for a blank, and for what is no number, which counts as one; Excel takes "-inf" for a formula and shows #NAME?.
  std::optional<double> number_of(const TableEntry& entry, std::string& text, Grid& grid) const {
    const std::optional<double> number = spelled_number(text);
    if (!number && !text.empty() && text != "#NAME?" && grid.odd.empty())
      grid.odd.push_back({OddEntry::Kind::text,
                          {},
                          fmt::format("{}:{}", escape(path_), entry.line),
                          say({"the text {}", "文本 {}"}, quote(entry.value))});
    return number;
  }

  Grid grid_of(const std::vector<TableEntry>& entries) const {
    Index items = 0, rows = 0, cols = 0;
    for (const TableEntry& entry : entries) {
      items = std::max(items, entry.item), rows = std::max(rows, entry.row), cols = std::max(cols, entry.column);
      // Lines may be missing, but not so many that nobody meant it.
      if (std::max<Index>(items, 1) * rows > 16 * most_counted / cols ||
          std::max<Index>(items, 1) * rows * cols > 64 * static_cast<Index>(entries.size()) + 4096)
        throw Error({"{}:{}: row {}, column {} is far from all other entries of this step",
                     "{}:{}：第 {} 行第 {} 列离这一步的其他元素太远"},
                    path_, entry.line, entry.row, entry.column);
    }
    Grid grid;
    grid.axes = {rows, cols};
    if (items > 0) grid.axes.insert(grid.axes.begin(), items);
    grid.writing.resize(static_cast<std::size_t>(std::max<Index>(items, 1)));
    grid.numbers = Numbers(grid.writing.size() * static_cast<std::size_t>(rows * cols));
    std::fill_n(grid.numbers.data(), grid.numbers.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<bool> filled(grid.numbers.size());
    for (const TableEntry& entry : entries) {
      const auto item = static_cast<std::size_t>(std::max<Index>(entry.item, 1) - 1);
      const auto place = (item * static_cast<std::size_t>(rows) + static_cast<std::size_t>(entry.row - 1)) *
                             static_cast<std::size_t>(cols) +
                         static_cast<std::size_t>(entry.column - 1);
      std::string text = entry.value;
      const std::optional<double> number = number_of(entry, text, grid);
      if (!number) continue;
      if (filled[place] && !same_numbers(&grid.numbers[place], &*number, 1))
        throw Error({"{}:{}: this entry is given twice, with different numbers", "{}:{}：这个元素给出了两次，而且数不相同"},
                    path_, entry.line);
      filled[place] = true;
      grid.numbers[place] = *number;
      if (std::isfinite(*number)) grid.writing[item].see(text, *number);
    }
    for (std::size_t place = 0; place < filled.size(); ++place)
      if (!filled[place]) grid.nulls.push_back(place);
    return grid;
  }

  const std::string& path_;
  std::string text_;
  std::string_view rest_;
  char separator_ = ',';
  Index line_ = 1;
  std::map<std::string, std::vector<TableEntry>> matrices_;
};

}  // namespace

bool holds_arrays(std::string_view path) {
  return std::any_of(array_endings.begin(), array_endings.end(), [&](auto ending) { return path.ends_with(ending); });
}

Node read_arrays(const std::string& path, const std::optional<std::string>& as) {
  const MatrixArchive archive = open_matrix_archive(path, path);
  Object object;
  for (const std::string& name : archive.names) {
    const bool has_name = !archive.key.empty();
    const bool in_torch = has_name && step_in_torch(name);
    const std::string key = in_torch   ? name
                            : has_name ? flat_name(name)
                                       : as.value_or(std::filesystem::path(path).stem().string());
    const bool is_known = in_torch || answer_name(without_layer(key), false).has_value();
    if (!has_name && !is_known)
      throw Error({"{}: a .npy file does not say which matrix it holds; say it with --as, such as --as Y",
                   "{}：.npy 文件没有说明是哪个矩阵；请用 --as 指定，例如 --as Y"},
                  path);
    if (without_layer(key).starts_with("parameters.")) continue;
    Member& member = object.emplace_back(Member{key, {}, {{}, key, Null{}}});
    if (is_known) member.node.value = grid_of(archive.array(name), path);
  }
  return {{}, "", std::move(object)};
}

Node read_table(const std::string& path) {
  const InputFile file(path);
  return TableReader(path, file.text()).read();
}

bool is_foreign_table(const std::string& path) {
  try {
    if (holds_sheets(path)) return !names_steps(path);
    const std::string text = InputFile(path).text(), first = text.substr(0, text.find('\n'));
    const auto lacks = [&](std::string_view column) { return first.find(column) == std::string::npos; };
    return std::any_of(table_columns.begin() + step_column, table_columns.end(), lacks);
  } catch (const Error&) {  // which is told when it is read
    return false;
  }
}

}  // namespace mha::io
