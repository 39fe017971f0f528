// Problem files: JSON in, a checked Problem out.
#include "io/problem_reader.hpp"

#include <system_error>

#include "io/input_file.hpp"
#include "io/json_reader.hpp"
#include "io/problem_parts.hpp"

namespace mha {
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
Problem read(Input input, std::string_view name) {
  try {
    Source source(input);
    Node root = read_json(source, lists_of_text);
    return read_parts(root);
  } catch (const InputFault& fault) {
    throw named(name, fault);
  } catch (const std::system_error& error) {
    throw named(name, error.code().value());
  }
}

}  // namespace

Problem read_problem_file(const std::string& path) {
  const InputFile file(path);
  return read(file.fd(), path);
}

Problem read_problem_fd(int fd, std::string_view name) {
  return read(fd, name);
}

Problem read_problem_text(std::string_view text, std::string_view name) {
  return read(text, name);
}

}  // namespace mha
