// Matrices in files: finds {"file": …} in a problem and opens what it names.
#include "io/arrays/matrix_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/file_matrix.hpp"
#include "io/arrays/matrix_archive.hpp"
#include "io/json/tree.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;

// The member of `parent` (which is canonical) or of a folder in it.
bool is_inside(const fs::path& path, const fs::path& parent) {
  const fs::path relative = path.lexically_relative(parent);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

class Opener {
 public:
  Opener(std::string_view name, const FileRules& rules) : name_(name), rules_(rules) {}

  void visit(Node& node) {
    if (List* list = node.as<List>())
      for (Node& entry : *list) visit(entry);
    Object* const object = node.as<Object>();
    if (object == nullptr) return;
    if (!node.path.empty())
      for (const Member& member : *object)
        if (member.key == "file") return replace(node);
    for (Member& member : *object) visit(member.node);
  }

  std::vector<std::string> opened() const {
    std::vector<std::string> paths;
    for (const auto& [path, archive] : archives_) paths.push_back(path);
    return paths;
  }

 private:
  // {"file": …} becomes a grid.
  void replace(Node& node) {
    const Fields fields(node, matrix_file_keys, "a file: {\"file\": \"w.npy\"}");
    try {
      const std::string& written = expect_text(*fields["file"]);
      const MatrixArchive& archive = archive_at(*fields["file"], written);
      auto matrix = std::make_shared<const FileMatrix>(
          array_of(archive, fields, node),
          fmt::format("{}:{}:{}: {}", name_, node.position.line, node.position.column, node.path));
      if (matrix->axes().empty())
        fail(node, fmt::format("{} is a single number, not a matrix; save it as an array of one row", matrix->name()));
      Grid grid;
      grid.file = taken(std::move(matrix), fields);
      grid.axes = grid.file->axes();
      node.value = std::move(grid);
    } catch (const Error& error) {  // of the file
      fail(*fields["file"], error.what());
    }
  }

  const MatrixArchive& archive_at(const Node& node, const std::string& written) {
    if (!rules_.folder)
      fail(node, "a problem without a folder of its own points to no files; save it as a file and write paths from there");
    if (written.empty() || written.find('\0') != std::string::npos) fail(node, "this is no path of a file");
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(rules_.folder->empty() ? "." : *rules_.folder, error);
    const fs::path path = fs::weakly_canonical(folder / written, error);
    if (error) fail(node, fmt::format("{} cannot be followed: {}", quote(written), error.message()));
    if (!rules_.allow_outside && !is_inside(path, folder))
      fail(node, fmt::format("{} leads out of the problem's folder; put the file there, or allow it with --allow-outside",
                             quote(written)));
    const auto [place, is_new] = archives_.try_emplace(path.string());
    if (is_new) place->second = open_matrix_archive(path.string(), written);
    return *place->second;
  }

  // The array that the keys "name" and "tensor" choose.
  std::shared_ptr<const StoredArray> array_of(const MatrixArchive& archive, const Fields& fields, const Node& node) {
    const std::string_view key = archive.key();
    for (const auto& [other, chosen] : {std::pair{"name", fields["name"]}, std::pair{"tensor", fields["tensor"]}})
      if (chosen != nullptr && other != key)
        fail(
            *chosen,
            fmt::format("\"{}\" is for {} files; {}", other, other == std::string_view("name") ? ".npz" : ".safetensors",
                        key.empty() ? "a .npy file holds one array: leave it out" : fmt::format("here it is \"{}\"", key)));
    if (key.empty()) return archive.array("");
    const Node* const chosen = fields[key];
    if (chosen == nullptr)
      fail(node, fmt::format("\"{}\" is missing: say which of the file's arrays it is.{}", key, archive.known("")));
    const std::string& name = expect_text(*chosen);
    if (auto array = archive.array(name)) return array;
    fail(*chosen, fmt::format("{} is not in the file.{}", quote(name), archive.known(name)));
  }

  // The rows and columns that are wanted, then transposed.
  static std::shared_ptr<const FileMatrix> taken(std::shared_ptr<const FileMatrix> matrix, const Fields& fields) {
    const std::size_t axes = matrix->axes().size();
    const std::string name = matrix->name();
    if (axes == 1)
      for (const Node* node : {fields["cols"], fields["transpose"]})
        if (node != nullptr)
          fail(*node,
               fmt::format("{} is one-dimensional: rows takes a part of it, and there is nothing else to choose", name));
    if (Node* rows = fields["rows"]) {
      const Index count = matrix->axes()[axes == 1 ? 0 : axes - 2];
      matrix = matrix->rows(read_cut(*rows, count, axes == 1 ? "number" : "row", name));
    }
    if (Node* cols = fields["cols"]) matrix = matrix->cols(read_cut(*cols, matrix->axes().back(), "column", name));
    const Node* const transpose = fields["transpose"];
    if (transpose == nullptr) return matrix;
    const bool* const truth = transpose->as<bool>();
    if (truth == nullptr) fail(*transpose, fmt::format("found {}, expected true or false", describe(*transpose)));
    return *truth ? matrix->transposed() : matrix;
  }

  // [a, b], half-open, from 0.
  static Cut read_cut(Node& node, Index count, std::string_view thing, std::string_view name) {
    const std::vector<Index> ends = expect_integers(node, 2, "where the part begins and where it has ended, from 0");
    if (ends[0] < 0 || ends[0] >= ends[1] || ends[1] > count)
      fail(node, fmt::format("[{}, {}] is no part of {}; {} has {}, and [0, {}] takes all", ends[0], ends[1], name, name,
                             counted(count, thing), count));
    return {ends[0], ends[1]};
  }

  std::string_view name_;
  const FileRules& rules_;
  std::map<std::string, std::unique_ptr<const MatrixArchive>> archives_;  // by path
};

}  // namespace

std::vector<std::string> open_matrix_files(Node& root, std::string_view name, const FileRules& rules) {
  Opener opener(name, rules);
  opener.visit(root);
  return opener.opened();
}

}  // namespace mha::io
