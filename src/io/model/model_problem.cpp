// An imported attention as a problem file. Not one number is copied: every matrix is a reference.
#include "io/model/model_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/matrix_archive.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/json/tree.hpp"
#include "io/json/writer.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;
fs::path real_folder_of(const std::string& file) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(folder_of(file), error);
  if (error)
    throw Error({"{}: its folder cannot be found: {}", "{}：找不到它的文件夹：{}"}, file, system_says(error.value()));
  return folder;
}

// {"file": …, "tensor": …, "rows": [a, b]}, as a problem file points to its matrices.
class ModelReference : public Reference {
 public:
  ModelReference(std::string file, std::string_view axis = "", const TensorPlace& place = {})
      : file_(std::move(file)), axis_(axis), place_(place) {}

  void write(JsonWriter& json) const override {
    json.begin_object(Spread::line);
    put(json, "file", file_);
    if (!place_.tensor.empty()) put(json, file_.ends_with(".npz") ? "name" : "tensor", place_.tensor);
    if (place_.cut) json.integers(axis_, *place_.cut);
    json.end();
  }

 private:
  static void put(JsonWriter& json, std::string_view key, std::string_view text) {
    if (!is_utf8(text))
      throw Error({"\"{}\" is no UTF-8, and a problem file holds nothing else; rename it",
                   "\"{}\" 不是 UTF-8，而题目文件只能是 UTF-8；请改名"},
                  escape(text));
    json.text(key, text);
  }

  std::string file_;
  std::string_view axis_;  // of the cut
  TensorPlace place_;
};

// Tensors that are written as references; their shapes do not count.
class References {
 public:
  References(const AttentionTensors& tensors, const std::string& problem)
      : axis_(tensors.out_by_in ? "rows" : "cols"), problem_(problem) {}

  Tensor input(const std::string& path) const {
    return {Shape{}, std::make_shared<ModelReference>(relative_to_problem(path, problem_))};
  }
  Linear linear(const ProjectionPlaces& places) const {
    Linear linear{tensor(places.W, axis_), std::nullopt};
    if (places.b) linear.b = tensor(*places.b, "rows");
    return linear;
  }

 private:
  Tensor tensor(const TensorPlace& place, std::string_view axis) const {
    return {Shape{}, std::make_shared<ModelReference>(relative_to_problem(place.file, problem_), axis, place)};
  }

  std::string_view axis_;
  const std::string& problem_;
};

Problem problem_of(const ImportedAttention& found, const ImportedInputs& inputs, const References& references) {
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
  if (inputs.x) problem.X = references.input(*inputs.x);
  if (inputs.x_kv) problem.X_kv = references.input(*inputs.x_kv);
  const AttentionTensors& tensors = found.tensors;
  problem.Q = references.linear(problem.fused ? *tensors.qkv : tensors.q);
  problem.K = references.linear(problem.fused ? *tensors.qkv : tensors.k);
  problem.V = references.linear(problem.fused ? *tensors.qkv : tensors.v);
  problem.O = references.linear(tensors.o);
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
  write_problem(sink, problem_of(found, inputs, {found.tensors, problem}));
}

}  // namespace mha::io
