// Where answers are.
#include "io/files/answer_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "core/error.hpp"
#include "io/problem/answer.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;

bool has_lines(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

bool is_answer_file(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code unknown;
  return entry.is_regular_file(unknown) && !name.starts_with(".") && (name.ends_with(".json") || has_lines(name));
}

std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_answer_file(*entry)) files.push_back(entry->path().string());
  if (error) throw Error(fmt::format("{}: cannot be read: {}", folder, error.message()));
  if (files.empty())
    throw Error(fmt::format("{}: no answers in this folder; they are files that end in .json or .jsonl", folder));
  std::sort(files.begin(), files.end());
  return files;
}

// The text stays in memory as long as one of its lines is to be read.
std::vector<AnswerSource> lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto text =
      std::make_shared<const std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  std::vector<AnswerSource> sources;
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
  return sources;
}

void add_file(const std::string& path, std::vector<AnswerSource>& sources) {
  std::vector<AnswerSource> found;
  if (has_lines(path)) found = lines_of(path);
  if (found.empty()) found.push_back({path, [path] { return read_answer_file(path); }});  // which says why there are none
  sources.insert(sources.end(), found.begin(), found.end());
}

}  // namespace

std::vector<AnswerSource> find_answers(const std::vector<std::string>& paths, int standard_input) {
  std::vector<AnswerSource> sources;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (path == "-")
      sources.push_back({path, [standard_input] { return read_answer_fd(standard_input, "-"); }});
    else if (fs::is_directory(path, unknown))
      for (const std::string& file : files_in(path)) add_file(file, sources);
    else
      add_file(path, sources);
  }
  return sources;
}

}  // namespace mha::io
