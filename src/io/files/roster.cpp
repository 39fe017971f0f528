// Reads a class list, and turns names into folders.
#include "io/files/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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

// What stands between double quotes, "" within them for one; nothing where they do not close.
std::optional<std::string> unquoted(std::string_view text) {
  std::string result;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"' && text.substr(i + 1, 1) != "\"") return result;
    if (text[i] == '"') ++i;
    result += text[i];
  }
  return std::nullopt;
}

// A name as a folder: without what separates folders, steers a terminal, or is special to some file system.
std::string folder_called(const std::string& name) {
  std::string folder = escape(name);
  for (char& c : folder)
    if (std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos) c = '_';
  for (char* end : {&folder.front(), &folder.back()})
    if (*end == '.' || *end == ' ' || *end == '-' || *end == '~') *end = '_';
  return folder;
}

// File systems may take "Anna" and "anna" for the same.
std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

class RosterReader {
 public:
  explicit RosterReader(std::string_view file) : file_(file) {}

  std::vector<Student> read(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      if (const std::string_view line = trimmed(text.substr(0, end)); !line.empty()) add(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (students_.empty()) throw Error({"{}: no names; write one on each line", "{}：没有姓名；每行写一个"}, file_);
    return std::move(students_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Text& sentence, const Parts&... parts) const {
    throw Error({"{}:{}: {}", "{}:{}: {}"}, file_, line_, say(sentence, parts...));
  }

  void add(std::string_view line) {
    if (!is_utf8(line)) fail({"this line is not UTF-8; save the roster as UTF-8", "这一行不是 UTF-8；请把名单存为 UTF-8"});
    std::string name(trimmed(line.substr(0, line.find(','))));
    if (line.front() == '"') {
      const std::optional<std::string> quoted = unquoted(line);
      if (!quoted)
        fail({"the quotes around the name do not close; end the name with \"", "姓名两边的引号没有结束；请以 \" 结束姓名"});
      name = trimmed(*quoted);
    }
    if (name.empty()) fail({"no name in the first column", "第一列没有姓名"});
    const auto [earlier, is_new] = lines_.emplace(name, line_);
    if (!is_new)
      fail({"{} stands in line {} already; give each student a name of their own",
            "{} 已在第 {} 行出现；每个学生要有自己的姓名"},
           quote(name), earlier->second);
    students_.push_back({name, new_folder(name)});
  }

  std::string new_folder(const std::string& name) {
    const std::string wanted = folder_called(name);
    std::string folder = wanted;
    for (int number = 2; std::find(taken_.begin(), taken_.end(), lower_case(folder)) != taken_.end(); ++number)
      folder = fmt::format("{} ({})", wanted, number);
    taken_.push_back(lower_case(folder));
    return folder;
  }

  std::string_view file_;
  Index line_ = 0;
  std::map<std::string, Index> lines_;                      // by name
  std::vector<std::string> taken_{"teacher", "index.csv"};  // beside the students' folders
  std::vector<Student> students_;
};

}  // namespace

std::vector<Student> parse_roster(std::string_view text, std::string_view file) {
  return RosterReader(file).read(text);
}

std::vector<Student> read_roster(const std::string& path) {
  return parse_roster(InputFile(path).text(), path);
}

}  // namespace mha::io
