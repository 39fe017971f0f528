// Whose an answer is.
#include "io/files/roster.hpp"

#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"

namespace mha::io {
namespace {

constexpr std::string_view moodle_mark = "_assignsubmission_";

bool is_platform_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "Anna Li_12345" in front of the mark.
Submitter of_moodle(std::string_view text) {
  const std::size_t line = text.rfind('_');
  if (line == std::string_view::npos || !is_platform_id(text.substr(line + 1))) return {std::string(text), ""};
  return {std::string(text.substr(0, line)), std::string(text.substr(line + 1))};
}

// NAME[_LATE]_USER_UPLOAD_FILE; an empty name where it is none of Canvas's.
Submitter of_canvas(std::string_view text) {
  for (std::size_t line = text.find('_', 1); line != std::string_view::npos; line = text.find('_', line + 1)) {
    const std::string_view rest = text.substr(line + 1);
    const std::size_t user = rest.find('_'), upload = user == std::string_view::npos ? user : rest.find('_', user + 1);
    if (upload == std::string_view::npos || !is_platform_id(rest.substr(0, user))) continue;
    if (!is_platform_id(rest.substr(user + 1, upload - user - 1))) continue;
    std::string_view name = text.substr(0, line);
    if (name.ends_with("_LATE")) name.remove_suffix(5);
    return {std::string(name), std::string(rest.substr(0, user))};
  }
  return {};
}

std::string_view last_part(std::string_view& path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  const std::string_view part = slash == std::string_view::npos ? path : path.substr(slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return part;
}

std::string unquoted_yaml(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// Of Gradescope's file: "submission_12345:", below it "  :submitters:", and there "  - :name: Anna Li", "    :sid: '1001'"
// and "    :email: anna@x". A group's stand side by side.
std::vector<Student> gradescope_names(std::string_view text) {
  using Field = std::pair<std::string_view, std::string Student::*>;
  std::vector<Student> students;
  std::string folder;
  bool among_submitters = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    const std::size_t indent = std::min(line.find_first_not_of(" -"), line.size());
    const std::string_view content = line.substr(indent);
    if (indent == 0 && content.ends_with(':')) folder = content.substr(0, content.size() - 1);
    if (line.starts_with("  :")) among_submitters = content == ":submitters:";
    for (const auto& [key, field] :
         {Field{":name: ", &Student::name}, {":sid: ", &Student::id}, {":email: ", &Student::email}}) {
      if (!among_submitters || !content.starts_with(key)) continue;
      if (students.empty() || students.back().folder != folder) students.push_back({"", folder, "", ""});
      std::string& value = students.back().*field;
      value += (value.empty() ? "" : ", ") + unquoted_yaml(content.substr(key.size()));
    }
  }
  return students;
}

}  // namespace

Submitter submitter_of(std::string_view path) {
  const std::string_view file = last_part(path);
  std::string_view stem = file;
  if (stem.ends_with(".json.txt")) stem.remove_suffix(4);  // of an editor that adds its ending
  stem = stem.substr(0, std::max<std::size_t>(stem.rfind('.'), 1));
  const bool says_nothing = stem == "answer" && !path.empty();
  for (const std::string_view part : {file, last_part(path)}) {
    if (const std::size_t mark = part.find(moodle_mark); mark != std::string_view::npos && mark > 0)
      return of_moodle(part.substr(0, mark));
    if (Submitter found = of_canvas(part); !found.name.empty() && part == file) return found;
    if (says_nothing && part != file && part != "." && part != "..") return {std::string(part), ""};
  }
  return {std::string(stem), ""};
}

std::vector<Student> students_in(const std::string& folder) {
  const std::string metadata = folder + "/submission_metadata.yml";
  if (status_of(metadata)) return gradescope_names(InputFile(metadata).text());
  for (const char* index : {"/teacher/index.csv", "/index.csv"})
    if (status_of(folder + index)) return read_index(folder + index);
  return {};
}

}  // namespace mha::io
