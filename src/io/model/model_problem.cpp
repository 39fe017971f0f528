// An imported attention as a problem file. Not one number is copied: every matrix is a reference.
#include "io/model/model_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/matrix_archive.hpp"
#include "io/files/paths.hpp"
#include "io/json/tree.hpp"
#include "io/json/writer.hpp"
#include "io/model/model_import.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;
fs::path real_folder_of(const std::string& file) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(folder_of(file), error);
  if (error) throw Error({"{}: its folder cannot be found: {}", "{}：找不到它的文件夹：{}"}, file, error.message());
  return folder;
}

// Where the matrices are, in the words of a problem file.
class ModelReferences : public MatrixReferences {
 public:
  ModelReferences(const AttentionTensors& tensors, const ImportedInputs& inputs, const std::string& problem)
      : tensors_(tensors), inputs_(inputs), problem_(problem) {}

  void write(JsonWriter& json, std::string_view key) const override {
    if (key.starts_with('X')) return write_input(json, key, key == "X" ? inputs_.x : inputs_.x_kv);
    const std::string_view name = key.substr(2);  // of W_… or b_…
    const ProjectionPlaces& places = name == "QKV" ? *tensors_.qkv
                                     : name == "Q" ? tensors_.q
                                     : name == "K" ? tensors_.k
                                     : name == "V" ? tensors_.v
                                                   : tensors_.o;
    if (key.starts_with('W')) return write_place(json, key, places.W, tensors_.out_by_in ? "rows" : "cols");
    if (places.b) write_place(json, key, *places.b, "rows");
  }

 private:
  static void put(JsonWriter& json, std::string_view key, std::string_view text) {
    if (!is_utf8(text))
      throw Error({"\"{}\" is no UTF-8, and a problem file holds nothing else; rename it",
                   "\"{}\" 不是 UTF-8，而题目文件只能是 UTF-8；请改名"},
                  escape(text));
    json.text(key, text);
  }

  void write_input(JsonWriter& json, std::string_view key, const std::optional<std::string>& path) const {
    if (!path) return;
    json.key(key);
    json.begin_object(Spread::line);
    put(json, "file", relative_to_problem(*path, problem_));
    json.end();
  }

  // {"file": …, "tensor": …, "rows": [a, b]}
  void write_place(JsonWriter& json, std::string_view key, const TensorPlace& place, std::string_view axis) const {
    json.key(key);
    json.begin_object(Spread::line);
    put(json, "file", relative_to_problem(place.file, problem_));
    put(json, "tensor", place.tensor);
    if (place.cut) {
      json.key(axis);
      json.begin_array(Spread::line);
      for (const Index end : *place.cut) json.integer(end);
      json.end();
    }
    json.end();
  }

  const AttentionTensors& tensors_;
  const ImportedInputs& inputs_;
  const std::string& problem_;
};

// Everything of the problem but its matrices.
Problem problem_of(const ImportedAttention& found, const ImportedInputs& inputs) {
  Problem problem;
  problem.title = title_of(found);
  problem.description = description_of(found);
  if (!inputs.tokens.empty()) problem.tokens = {inputs.tokens};
  problem.layout = found.tensors.out_by_in ? Layout::torch : Layout::x_at_w;
  problem.packed = true;
  problem.fused = found.tensors.qkv && !found.cross;
  problem.heads = found.heads.heads;
  problem.kv_heads = found.heads.kv_heads;
  problem.grouped = problem.heads != problem.kv_heads;
  if (found.rules.causal) {
    problem.masks.emplace_back().kind = Mask::Kind::causal;
    problem.mask_is_list = found.rules.window.has_value();
  }
  if (problem.mask_is_list) {
    Mask& window = problem.masks.emplace_back();
    window.kind = Mask::Kind::window;
    window.short_form = false;
    window.left = *found.rules.window - 1;
    window.right = 0;
  }
  problem.scale = found.rules.scale;
  problem.softcap = found.rules.softcap;
  problem.rope = found.rules.rope;
  return problem;
}

// Gives the rows of the input, which must have as many columns as the weights take.
Index check_input(std::string_view option, const std::string& path, const TensorPlace& weights) {
  const std::vector<Index> axes = open_matrix_archive(path, path).array("")->header.axes;
  if (axes.size() != 2 && axes.size() != 3)
    throw Error({"{} {}: it has {}, expected a matrix with one row for each token, or a batch of them",
                 "{} {}：它有 {}，应为每个词元一行的矩阵，或一批这样的矩阵"},
                option, path, counted(static_cast<Index>(axes.size()), "axis"));
  if (axes.back() != weights.in)
    throw Error({"{} {}: it is {} and the {} takes {}", "{} {}：它是 {}，而{}需要 {}"}, option, path, shape_text(axes),
                tensor_called(weights.tensor), counted(weights.in, "column"));
  return axes[axes.size() - 2];
}

}  // namespace

std::string relative_to_problem(const std::string& file, const std::string& problem) {
  const fs::path from = real_folder_of(problem);
  const fs::path to = real_folder_of(file) / fs::path(file).filename();
  return to.lexically_relative(from).string();
}

std::vector<std::string> files_pointed_to(const ImportedAttention& found, const ImportedInputs& inputs) {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& file) {
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const ProjectionPlaces* places : {&found.tensors.q, &found.tensors.k, &found.tensors.v, &found.tensors.o}) {
    add(places->W.file);
    if (places->b) add(places->b->file);
  }
  for (const auto* path : {&inputs.x, &inputs.x_kv})
    if (*path) add(**path);
  return files;
}

bool is_outside(const std::string& file, const std::string& problem) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(file, error).lexically_relative(real_folder_of(problem));
  return path.empty() || *path.begin() == "..";
}

void check_inputs(const ImportedAttention& found, const ImportedInputs& inputs) {
  const AttentionTensors& tensors = found.tensors;
  if (found.cross && inputs.x && !inputs.x_kv)
    throw Error({"the keys take {} and the queries {}, so they come from different inputs; name that of keys and values "
                 "with --x-kv",
                 "键用到 {}，查询用到 {}，可见来自不同的输入；请用 --x-kv 指定键和值的输入"},
                counted(tensors.k.W.in, "column"), tensors.q.W.in);
  if (inputs.x) {
    const Index rows = check_input("--x", *inputs.x, tensors.q.W);
    const auto labels = static_cast<Index>(inputs.tokens.size());
    if (labels != 0 && labels != rows)
      throw Error({"--tokens: {} for {} of {}; each row has one", "--tokens：有 {0}，而 {2} 有 {1}；每行一个"},
                  counted(labels, "label"), counted(rows, "row"), *inputs.x);
  }
  if (inputs.x_kv) check_input("--x-kv", *inputs.x_kv, tensors.k.W);
}

void write_imported(Sink& sink, const ImportedAttention& found, const ImportedInputs& inputs, const std::string& problem) {
  const ModelReferences references(found.tensors, inputs, problem);
  write_problem(sink, problem_of(found, inputs), &references);
}

}  // namespace mha::io
