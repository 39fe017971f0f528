// Which problem is meant: a file, standard input, or a built-in example.
#include "cli/input.hpp"

#include <sys/stat.h>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "io/problem/embedded.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::cli {
namespace {

const io::EmbeddedFile* find_example(const std::string& name) {
  for (const io::EmbeddedFile& example : io::examples())
    if (example.name == name) return &example;
  return nullptr;
}

Saying suggestion(const std::string& name) {
  return did_you_mean(name, column_of(io::examples(), &io::EmbeddedFile::name));
}

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

Problem problem_of(const std::string& name, World& world, bool allow_outside) {
  if (name == "-") {
    if (world.input_is_terminal)
      tell(world, {"reading the problem from standard input; end it with Ctrl-D", "正从标准输入读取题目；按 Ctrl-D 结束"});
    return io::read_problem_fd(world.input, "-", allow_outside);
  }
  if (const io::EmbeddedFile* example = find_example(name)) {
    if (exists(name))
      tell(world,
           {"'{0}' is the built-in example here; write ./{0} for the file", "'{0}' 在这里指内置示例；要用文件请写 ./{0}"},
           name);
    return io::read_problem_text(example->text, name);
  }
  if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) && !exists(name))
    throw Error({"there is no file called '{}'; if it belongs to a list, a list is one argument: write --heads 1,2",
                 "没有叫 '{}' 的文件；如果它属于一个列表，列表应为一个参数：请写 --heads 1,2"},
                name);
  const bool looks_like_path = name.find('/') != std::string::npos || name.find('.') != std::string::npos;
  if (!looks_like_path && !exists(name))
    throw Error({"there is no file and no example called '{}'.{} `mha examples` lists the examples",
                 "没有叫 '{}' 的文件或示例。{}`mha examples` 列出全部示例"},
                name, suggestion(name));
  return io::read_problem_file(name, allow_outside);
}

}  // namespace

bool is_example(const std::string& name) {
  return find_example(name) != nullptr;
}

std::string_view example_text(const std::string& name) {
  if (const io::EmbeddedFile* example = find_example(name)) return example->text;
  throw Error(
      {"no example is called '{}'.{} `mha examples` lists them", "没有叫 '{}' 的示例。{}`mha examples` 列出全部示例"}, name,
      suggestion(name));
}

Problem read_problem(const std::string& name, World& world, bool allow_outside) {
  Problem problem = problem_of(name, world, allow_outside);
  if (!is_example(name)) world.inputs.push_back(name);
  world.inputs.insert(world.inputs.end(), problem.files.begin(), problem.files.end());
  return problem;
}

void warn_of(std::span<const Problem> problems, const show::PageOptions& page, World& world) {
  for (const Problem& problem : problems)
    for (const std::string& warning : show::warnings(problem, page))
      tell_line(world, (problems.size() > 1 ? problem.name + ": " : "") + warning);
}

std::string one_problem(const std::vector<std::string>& names, const char* otherwise) {
  if (names.size() > 1)
    throw Error(
        {"one problem at a time, but '{}' and '{}' were given; a list is one argument: write --heads 1,2 or --steps Q,K",
         "一次只能有一道题目，而这里给出了 '{}' 和 '{}'；列表应为一个参数：请写 --heads 1,2 或 --steps Q,K"},
        names[0], names[1]);
  return names.empty() ? otherwise : names.front();
}

std::vector<Problem> read_problems(const std::vector<std::string>& names, World& world, bool allow_outside) {
  refuse_two_standard_inputs(names);
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    Problem& problem = problems.emplace_back(read_problem(name, world, allow_outside));
    if (problem.title.empty()) problem.title.en = name;
  }
  return problems;
}

void refuse_two_standard_inputs(const std::vector<std::string>& names) {
  if (std::count(names.begin(), names.end(), "-") > 1)
    throw Error({"standard input can be read once only; write - for one of the inputs, and a file for the others",
                 "标准输入只能读一次；只有一个输入可以写 -，其他请写文件"});
}

}  // namespace mha::cli
