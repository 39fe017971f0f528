// Where answers are.
#include "io/files/answer_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/problem/answer.hpp"

namespace mha::io {
namespace {

bool has_lines(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

std::vector<std::string> answers_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : files_in(folder))
    if (name.ends_with(".json") || has_lines(name)) paths.push_back((std::filesystem::path(folder) / name).string());
  if (paths.empty())
    throw Error({"{}: no answers in this folder; they are files that end in .json or .jsonl",
                 "{}：这个文件夹里没有答卷；答卷是以 .json 或 .jsonl 结尾的文件"},
                folder);
  return paths;
}

// The text stays in memory as long as one of its lines is to be read.
void add_lines(const std::string& path, std::vector<AnswerSource>& sources) {
  const auto text = std::make_shared<const std::string>(InputFile(path).text());
  Index line = 0;
  for (std::size_t start = 0; start < text->size();) {
    const std::size_t end = std::min(text->find('\n', start), text->size());
    const std::string_view content = std::string_view(*text).substr(start, end - start);
    ++line;
    start = end + 1;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    sources.push_back(
        {fmt::format("{}:{}", path, line), [text, content, path, line] { return read_answer_line(content, path, line); }});
  }
}

void add_file(const std::string& path, std::vector<AnswerSource>& sources) {
  const std::size_t before = sources.size();
  try {
    if (has_lines(path)) add_lines(path, sources);
  } catch (const Error& error) {
    return sources.push_back({path, [error]() -> Answer { throw error; }});
  }
  if (sources.size() == before) sources.push_back({path, [path] { return read_answer_file(path); }});
}

}  // namespace

std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input) {
  std::vector<AnswerSource> sources;
  for (const std::string& path : paths) {
    const auto status = status_of(path);
    if (path == "-")
      sources.push_back({path, [standard_input] { return read_answer_fd(standard_input, "-"); }});
    else if (status && S_ISDIR(status->st_mode))
      for (const std::string& file : answers_in(path)) add_file(file, sources);
    else
      add_file(path, sources);
  }
  return sources;
}

}  // namespace mha::io
