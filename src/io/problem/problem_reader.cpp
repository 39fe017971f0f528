// Problem files: JSON in, a checked Problem out.
#include "io/problem/problem_reader.hpp"

#include <system_error>

#include "io/arrays/matrix_files.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/json/json_reader.hpp"
#include "io/problem/problem_parts.hpp"

namespace mha::io {
namespace {

constexpr std::string_view lists_of_text[] = {"tokens", "tokens_kv"};

Problem read_parts(Node& root) {
  const auto fields = read_fields(root, problem_fields, "one problem: {\"X\": …, \"heads\": …, \"W_O\": …}");
  Problem problem;
  read_inputs(root, fields, problem);
  read_weights(root, fields, problem);
  read_output_projection(root, fields, problem);
  read_labels(fields, problem);
  read_masks(fields, problem);
  read_rules(fields, problem);
  return problem;
}

// `input` is what a Source is made from.
template <typename Input>
Problem read(Input input, std::string_view name, const FileRules& rules) {
  try {
    Source source(input);
    Node root = read_json(source, lists_of_text);
    std::vector<std::string> files = open_matrix_files(root, name, rules);
    Problem problem = read_parts(root);
    problem.files = std::move(files);
    return problem;
  } catch (const InputFault& fault) {
    throw named(name, fault);
  } catch (const std::system_error& error) {
    throw named(name, error.code().value());
  }
}

}  // namespace

Problem read_problem_file(const std::string& path, bool allow_outside) {
  const InputFile file(path);
  return read(file.fd(), path, {folder_of(path), allow_outside});
}

Problem read_problem_fd(int fd, std::string_view name, bool allow_outside) {
  return read(fd, name, {".", allow_outside});
}

Problem read_problem_text(std::string_view text, std::string_view name) {
  return read(text, name, {});
}

}  // namespace mha::io
