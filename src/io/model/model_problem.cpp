// Imported layers as a problem file. No matrix is copied: each is a reference.
#include "io/model/model_import.hpp"

#include <filesystem>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/array.hpp"
#include "io/arrays/matrix_files.hpp"
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

// A file as the problem names it: relative to the problem's folder, links in its name kept.
std::string relative_to_problem(const std::string& file, const std::string& problem) {
  const fs::path from = real_folder_of(problem);
  const fs::path to = real_folder_of(file) / fs::path(file).filename();
  return to.lexically_relative(from).string();
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
  explicit References(const std::string& problem) : problem_(problem) {}

  Tensor input(const std::string& path) { return refer(path, "", {}); }
  Linear linear(const ProjectionPlaces& places, bool out_by_in) {
    Linear linear{refer(places.W.file, out_by_in ? "rows" : "cols", places.W), std::nullopt};
    if (places.b) linear.b = refer(places.b->file, "rows", *places.b);
    return linear;
  }

  NormRule norm(const Norm& rule, const ProjectionPlaces& places, const BlockNames& names) {
    NormRule norm{rule, refer(places.W.file, "", places.W), std::nullopt};
    if (names.gemma) norm.gamma = one_more(places.W);
    if (places.b) norm.beta = refer(places.b->file, "", *places.b);
    return norm;
  }

  std::vector<std::string> files;  // that were referred to, each once

 private:
  Tensor refer(const std::string& file, std::string_view axis, const TensorPlace& place) {
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    return {Shape{}, std::make_shared<ModelReference>(relative_to_problem(file, problem_), axis, place)};
  }

  // No reference can say 1 + γ.
  static Tensor one_more(const TensorPlace& place) {
    Tensor gamma({1, 1, 1, place.out});
    FileMatrix(open_matrix_archive(place.file, place.file).array(place.tensor), place.file).read_rows(0, 1, gamma.data());
    for (Index i = 0; i < place.out; ++i) gamma.data()[i] += 1;
    return gamma;
  }

  const std::string& problem_;
};

void add_block(Problem& problem, const ImportedLayer& layer, References& references) {
  const BlockNames& names = *layer.block;
  const bool out_by_in = layer.tensors.out_by_in;
  problem.residual = true;
  problem.norm_place = names.place;
  problem.norm = references.norm(layer.block_rules.norm, layer.around.attention_norm, names);
  problem.mlp_norm = references.norm(layer.block_rules.norm, layer.around.mlp_norm, names);
  problem.mlp = Mlp{references.linear(layer.around.first, out_by_in), references.linear(layer.around.second, out_by_in),
                    std::nullopt, layer.block_rules.activation};
  if (layer.around.gate) problem.mlp->gate = references.linear(*layer.around.gate, out_by_in);
}

Problem layer_of(const ImportedLayer& layer, bool cross, References& references) {
  Problem problem;
  problem.packed = true;
  problem.fused = layer.tensors.qkv && !cross;
  problem.heads = layer.heads.heads.value;
  problem.kv_heads = layer.heads.kv_heads.value;
  problem.grouped = problem.heads != problem.kv_heads;
  const AttentionTensors& tensors = layer.tensors;
  problem.Q = references.linear(problem.fused ? *tensors.qkv : tensors.q, tensors.out_by_in);
  problem.K = references.linear(problem.fused ? *tensors.qkv : tensors.k, tensors.out_by_in);
  problem.V = references.linear(problem.fused ? *tensors.qkv : tensors.v, tensors.out_by_in);
  problem.O = references.linear(tensors.o, tensors.out_by_in);
  if (layer.rules.causal) {
    problem.masks.emplace_back().kind = Mask::Kind::causal;
    problem.mask_is_list = layer.rules.window.has_value();
  }
  if (problem.mask_is_list) {
    Mask& window = problem.masks.emplace_back();
    window.kind = Mask::Kind::window;
    window.short_form = false;
    window.left = *layer.rules.window - 1;
    window.right = 0;
  }
  problem.scale = layer.rules.scale;
  problem.softcap = layer.rules.softcap;
  problem.rope = layer.rules.rope;
  if (layer.block != nullptr) add_block(problem, layer, references);
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

bool is_outside(const std::string& file, const std::string& problem) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(file, error).lexically_relative(real_folder_of(problem));
  return path.empty() || *path.begin() == "..";
}

void check_inputs(const Imported& found, const ImportedInputs& inputs) {
  const AttentionTensors& tensors = found.first().tensors;
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

std::vector<std::string> write_imported(Sink& sink, const Imported& found, const ImportedInputs& inputs,
                                        const std::string& problem) {
  References references(problem);
  Problem whole;
  if (!found.stack) whole = layer_of(found.first(), found.cross, references);
  for (std::size_t i = 0; found.stack && i < found.layers.size(); ++i)
    whole.layers.push_back(layer_of(found.layers[i], false, references));
  const ImportedLayer& last = found.layers.back();
  if (found.final_norm) whole.final_norm = references.norm(last.block_rules.norm, *found.final_norm, *last.block);
  whole.title = title_of(found);
  whole.description = description_of(found);
  whole.layout = last.tensors.out_by_in ? Layout::torch : Layout::x_at_w;
  if (!inputs.tokens.empty()) whole.tokens = {inputs.tokens};
  if (inputs.x) whole.X = references.input(*inputs.x);
  if (inputs.x_kv) whole.X_kv = references.input(*inputs.x_kv);
  write_problem(sink, whole);
  return references.files;
}

}  // namespace mha::io
