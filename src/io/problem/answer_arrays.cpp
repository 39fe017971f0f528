// Arrays as an answer: each as the grid that its JSON would be.
#include "io/problem/answer.hpp"

#include <filesystem>

#include "core/error.hpp"
#include "io/arrays/matrix_archive.hpp"
#include "io/arrays/matrix_files.hpp"

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

}  // namespace

bool holds_arrays(std::string_view path) {
  return std::any_of(array_endings.begin(), array_endings.end(), [&](auto ending) { return path.ends_with(ending); });
}

Node read_arrays(const std::string& path, const std::optional<std::string>& as) {
  const MatrixArchive archive = open_matrix_archive(path, path);
  Object object;
  for (const std::string& name : archive.names) {
    const bool has_name = !archive.key.empty();
    const std::string key = has_name ? flat_name(name) : as.value_or(std::filesystem::path(path).stem().string());
    const bool is_known = answer_name(without_layer(key), false).has_value();
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

}  // namespace mha::io
