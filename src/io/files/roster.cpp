// Reads a class list, and turns names into folders.
#include "io/files/roster.hpp"

#include <map>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/tensor.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// What the columns of a header line hold, and the words for it.
enum class Column { name, first_name, last_name, folder, id, email, other };
constexpr std::array<std::string_view, 7> column_words = {
    "|name|full name|name, vorname|nachname, vorname|last name, first name|student|student "
    "name|姓名|名字|学生|学生姓名|nom complet|nombre completo|",
    "|first name|given name|名|vorname|prénom|prenom|nombre|",
    "|last name|surname|family name|姓|姓氏|nachname|familienname|nom|apellido|apellidos|cognome|",
    "|folder|",
    "|id|id number|student id|sid|identifier|username|学号|matrikel|matrikelnummer|matrikelnr|numéro|",
    "|email|e mail|mail|email address|邮箱|电子邮件|courriel|correo|",
    "|number|group|class|section|序号|班级|gruppe|grupo|",
};

template <typename... Parts>
[[noreturn]] void fail_in(std::string_view file, Index line, const Text& sentence, const Parts&... parts) {
  throw Error({"{}:{}: {}", "{}:{}: {}"}, file, line, say(sentence, parts...));
}

// A name as a folder: without what separates folders, steers a terminal, or is special to some file system.
std::string folder_called(const std::string& name) {
  std::string folder = escape(name);
  for (char& c : folder)
    if (std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos) c = '_';
  for (char* end : {&folder.front(), &folder.back()})
    if (std::string_view(". -~=+@").find(*end) != std::string_view::npos) *end = '_';
  return folder;
}

std::optional<Column> column_called(std::string_view field) {
  std::string word = lower_case(std::string(field));
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == '_' || c == '-'; }, ' ');
  for (std::size_t i = 0; i < column_words.size(); ++i)
    if (!word.empty() && column_words[i].find("|" + word + "|") != std::string_view::npos) return static_cast<Column>(i);
  return std::nullopt;
}

struct Line {
  Index number;
  std::vector<std::string> fields;
};

// The lines of a CSV file that are not blank.
class LineReader {
 public:
  explicit LineReader(std::string_view file) : file_(file) {}

  std::vector<Line> read(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    separator_ = separator_of(text);
    if (text.starts_with("sep=") && text.find_first_of("\r\n") == 5)
      separator_ = text[4], text.remove_prefix(5);  // Excel's
    std::vector<Line> lines;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
      ++line_;
      std::vector<std::string> fields = split(text.substr(0, end));
      const auto is_empty = [](const std::string& field) { return field.empty(); };
      if (!std::all_of(fields.begin(), fields.end(), is_empty)) lines.push_back({line_, std::move(fields)});
      text.remove_prefix(std::min(end + (text.substr(end, 2) == "\r\n" ? 2 : 1), text.size()));
    }
    return lines;
  }

 private:
  // The one that most lines have; a comma may stand in a name as well.
  static char separator_of(std::string_view text) {
    char best = ',';
    std::ptrdiff_t most = 0;
    for (const char separator : {'\t', ';', ','}) {
      std::ptrdiff_t lines = 0;
      for (std::size_t start = 0; start < text.size(); start = std::min(text.find_first_of("\r\n", start), text.size()) + 1)
        lines += text.substr(start, text.find_first_of("\r\n", start) - start).find(separator) != std::string_view::npos;
      if (lines > most) best = separator, most = lines;
    }
    return best;
  }

  std::vector<std::string> split(std::string_view line) const {
    if (!is_utf8(line))
      fail_in(file_, line_, {"this line is not UTF-8; save the roster as UTF-8", "这一行不是 UTF-8；请把名单存为 UTF-8"});
    std::vector<std::string> fields;
    for (bool more = true; more;) {
      line.remove_prefix(std::min(line.find_first_not_of(separator_ == '\t' ? " \r" : blanks), line.size()));
      std::string field;
      if (line.starts_with('"')) take_quoted(line, field);
      const std::size_t end = std::min(line.find(separator_), line.size());
      field += trimmed(line.substr(0, end));
      fields.emplace_back(trimmed(field));
      more = end < line.size();
      line.remove_prefix(end + (more ? 1 : 0));
    }
    return fields;
  }

  // What stands between double quotes, "" within them for one.
  void take_quoted(std::string_view& line, std::string& field) const {
    for (std::size_t i = 1; i < line.size(); ++i) {
      const bool is_quote = line[i] == '"';
      if (is_quote && line.substr(i + 1, 1) != "\"") return line.remove_prefix(i + 1);
      i += is_quote ? 1 : 0;
      field += line[i];
    }
    fail_in(file_, line_,
            {"the quotes around the name do not close; end the name with \"", "姓名两边的引号没有结束；请以 \" 结束姓名"});
  }

  std::string_view file_;
  Index line_ = 0;
  char separator_ = ',';
};

// Where a line has which name.
class Columns {
 public:
  // The header, if it is one, is taken off the lines.
  explicit Columns(std::vector<Line>& lines) {
    if (lines.empty()) return;
    const std::vector<std::string>& fields = lines.front().fields;
    const auto names_somebody = [](const std::string& field) {
      const std::optional<Column> column = column_called(field);
      return column && *column < Column::folder;
    };
    if (!column_called(fields.front()) && std::none_of(fields.begin(), fields.end(), names_somebody)) return;
    for (std::size_t i = fields.size(); i-- > 0;)
      if (const std::optional<Column> column = column_called(fields[i])) place_[*column] = i;
    if (place_.count(Column::first_name) > 0 && place_.count(Column::last_name) == 0)  // Name; Vorname
      if (const auto whole = place_.extract(Column::name)) place_[Column::last_name] = whole.mapped();
    is_chinese_ = place_.count(Column::last_name) > 0 && fields[place_[Column::last_name]].starts_with("姓");
    lines.erase(lines.begin());
  }

  Student student_of(const Line& line) const {
    return {name_of(line), field(line, Column::folder), field(line, Column::id), field(line, Column::email)};
  }

 private:
  std::string name_of(const Line& line) const {
    const std::string first = field(line, Column::first_name), last = field(line, Column::last_name);
    if (place_.count(Column::name) == 0 && !(first + last).empty())
      return is_chinese_ ? last + first : first + (first.empty() || last.empty() ? "" : " ") + last;
    return place_.count(Column::name) == 0 ? line.fields.front() : field(line, Column::name);
  }
  std::string field(const Line& line, Column column) const {
    const auto found = place_.find(column);
    return found == place_.end() || found->second >= line.fields.size() ? "" : line.fields[found->second];
  }

  std::map<Column, std::size_t> place_;
  bool is_chinese_ = false;
};

std::string behind_name(const std::string& mark) {
  return mark.empty() ? "" : fmt::format(" ({})", mark);
}

void tell_namesakes_apart(std::vector<Student>& students) {
  std::map<std::string, int> counts;
  for (const Student& student : students) ++counts[student.name];
  for (Student& student : students)
    if (counts[student.name] > 1) student.name += behind_name(student.id.empty() ? student.email : student.id);
}

class RosterReader {
 public:
  explicit RosterReader(std::string_view file) : file_(file) {}

  std::vector<Student> read(std::string_view text) {
    std::vector<Line> lines = LineReader(file_).read(text);
    const Columns columns(lines);
    const auto has_name = [&](const Line& line) { return !columns.student_of(line).name.empty(); };
    if (const auto first = std::find_if(lines.begin(), lines.end(), has_name);  // Canvas's, after "Manual Posting"
        first != lines.end() && columns.student_of(*first).name == "Points Possible")
      lines.erase(lines.begin(), first + 1);
    std::vector<Student> students;
    for (const Line& line : lines)
      if (students.push_back(columns.student_of(line)); students.back().name.empty())
        fail_in(file_, line.number, {"no name in its column", "姓名一列是空的"});
    if (students.empty()) throw Error({"{}: no names; write one on each line", "{}：没有姓名；每行写一个"}, file_);
    tell_namesakes_apart(students);
    for (std::size_t i = 0; i < students.size(); ++i) {
      const auto [earlier, is_new] = lines_.emplace(students[i].name, lines[i].number);
      if (!is_new)
        fail_in(
            file_, lines[i].number,
            {"{} stands in line {} already; give each student a name of their own, or an id or e-mail of their own in a "
             "column that the first line calls so",
             "{} 已在第 {} 行出现；每个学生要有自己的姓名，或者在表头写明的学号或邮箱一列里有自己的学号或邮箱"},
            quote(students[i].name), earlier->second);
      students[i].folder = new_folder(students[i].name);
    }
    return students;
  }

 private:
  // File systems may take "Anna" and "anna" for the same.
  std::string new_folder(const std::string& name) {
    const std::string wanted = folder_called(name);
    std::string folder = wanted;
    for (int number = 2; std::find(taken_.begin(), taken_.end(), lower_case(folder)) != taken_.end(); ++number)
      folder = fmt::format("{} ({})", wanted, number);
    taken_.push_back(lower_case(folder));
    return folder;
  }

  std::string_view file_;
  std::map<std::string, Index> lines_;                      // by name
  std::vector<std::string> taken_{"teacher", "index.csv"};  // beside the students' folders
};

}  // namespace

std::vector<Student> parse_roster(std::string_view text, std::string_view file) {
  return RosterReader(file).read(text);
}

std::vector<Student> read_roster(const std::string& path) {
  return parse_roster(InputFile(path).text(), path);
}

std::vector<Student> read_index(const std::string& path) {
  std::vector<Line> lines = LineReader(path).read(InputFile(path).text());
  const Columns columns(lines);
  std::vector<Student> students;
  for (const Line& line : lines) {
    Student& student = students.emplace_back(columns.student_of(line));
    for (std::string* text : {&student.name, &student.id, &student.email})
      if (text->starts_with('\'') && csv_text(text->substr(1)) == *text) text->erase(0, 1);
  }
  tell_namesakes_apart(students);
  return students;
}

std::string Student::plain_name() const {
  for (const std::string& mark : {behind_name(id), behind_name(email)})
    if (!mark.empty() && name.ends_with(mark)) return name.substr(0, name.size() - mark.size());
  return name;
}

}  // namespace mha::io
