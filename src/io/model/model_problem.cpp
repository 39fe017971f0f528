// An imported attention as a problem file. Not one number is copied: every matrix is a reference.
#include "io/model/model_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/files/file_identity.hpp"
#include "io/json/json_values.hpp"
#include "io/json/json_writer.hpp"
#include "io/arrays/matrix_archive.hpp"
#include "io/model/model_account.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;
using Spread = JsonWriter::Spread;

class ProblemWriter {
 public:
  ProblemWriter(Sink& sink, const ImportedAttention& found, const ImportedInputs& inputs, const std::string& problem)
      : json_(sink), found_(found), inputs_(inputs), problem_(problem) {}

  void write() {
    json_.begin_object();
    json_.key("title");
    write_caption(json_, title_of(found_));
    json_.key("description");
    write_caption(json_, description_of(found_));
    write_inputs();
    write_weights();
    write_rules();
    json_.end();
    json_.finish();
  }

 private:
  void put(std::string_view key, std::string_view text) {
    if (!is_utf8(text))
      throw Error(fmt::format("\"{}\" is no UTF-8, and a problem file holds nothing else; rename it", escape(text)));
    json_.text(key, text);
  }

  void put_file(std::string_view file) { put("file", relative_to_problem(std::string(file), problem_)); }

  void write_inputs() {
    if (!inputs_.tokens.empty()) {
      json_.key("tokens");
      json_.begin_array(Spread::line);
      for (const std::string& token : inputs_.tokens) json_.text(token);
      json_.end();
    }
    for (const auto& [key, path] : {std::pair{"X", &inputs_.x}, {"X_kv", &inputs_.x_kv}}) {
      if (!*path) continue;
      json_.key(key);
      json_.begin_object(Spread::line);
      put_file(**path);
      json_.end();
    }
  }

  // {"file": …, "tensor": …, "rows": [a, b]}
  void write_place(std::string_view key, const TensorPlace& place, std::string_view axis) {
    json_.key(key);
    json_.begin_object(Spread::line);
    put_file(place.file);
    put("tensor", place.tensor);
    if (place.cut) {
      json_.key(axis);
      json_.begin_array(Spread::line);
      for (const Index end : *place.cut) json_.integer(end);
      json_.end();
    }
    json_.end();
  }

  void write_projection(const std::string& name, const ProjectionPlaces& places) {
    write_place("W_" + name, places.W, found_.tensors.out_by_in ? "rows" : "cols");
    if (places.b) write_place("b_" + name, *places.b, "rows");
  }

  void write_weights() {
    const AttentionTensors& tensors = found_.tensors;
    put("layout", tensors.out_by_in ? "torch" : "x@W");
    json_.integer("num_heads", found_.heads.heads);
    if (found_.heads.kv_heads != found_.heads.heads) {
      json_.integer("num_kv_heads", found_.heads.kv_heads);
    }
    if (tensors.qkv && !found_.cross) {
      write_projection("QKV", *tensors.qkv);
    } else {
      write_projection("Q", tensors.q);
      write_projection("K", tensors.k);
      write_projection("V", tensors.v);
    }
    write_projection("O", tensors.o);
  }

  void write_mask() {
    if (!found_.rules.causal) return json_.text("none");
    if (!found_.rules.window) return json_.text("causal");
    json_.begin_array(Spread::line);
    json_.text("causal");
    json_.begin_object(Spread::line);
    json_.key("window");
    json_.begin_object(Spread::line);
    json_.integer("left", *found_.rules.window - 1);
    json_.integer("right", 0);
    json_.end();
    json_.end();
    json_.end();
  }

  void write_rules() {
    const AttentionRules& rules = found_.rules;
    json_.key("mask");
    write_mask();
    if (rules.scale.kind == Scale::Kind::none) put("scale", "none");
    if (rules.scale.kind == Scale::Kind::number) {
      json_.number("scale", rules.scale.number);
    }
    if (rules.softcap) {
      json_.number("softcap", *rules.softcap);
    }
    if (!rules.rope) return;
    json_.key("rope");
    write_rope(json_, *rules.rope);
  }

  JsonWriter json_;
  const ImportedAttention& found_;
  const ImportedInputs& inputs_;
  const std::string& problem_;
};

fs::path real_folder_of(const std::string& file) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(folder_of(file), error);
  if (error) throw Error(fmt::format("{}: its folder cannot be found: {}", file, error.message()));
  return folder;
}

// Gives the rows of the input, which must have as many columns as the weights take.
Index check_input(std::string_view option, const std::string& path, const TensorPlace& weights) {
  const std::vector<Index> axes = open_matrix_archive(path, path)->array("")->header.axes;
  if (axes.size() != 2 && axes.size() != 3)
    throw Error(fmt::format("{} {}: it has {}, expected a matrix with one row for each token, or a batch of them", option,
                            path, axes.size() == 1 ? "one axis" : fmt::format("{} axes", axes.size())));
  if (axes.back() != weights.in)
    throw Error(fmt::format("{} {}: it is {} and the tensor \"{}\" takes {}", option, path, shape_text(axes),
                            escape(weights.tensor, 200), counted(weights.in, "column")));
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
    throw Error(
        fmt::format("the keys take {} and the queries {}, so they come from different inputs; name that of keys and "
                    "values with --x-kv",
                    counted(tensors.k.W.in, "column"), tensors.q.W.in));
  if (inputs.x) {
    const Index rows = check_input("--x", *inputs.x, tensors.q.W);
    const auto labels = static_cast<Index>(inputs.tokens.size());
    if (labels != 0 && labels != rows)
      throw Error(fmt::format("--tokens: {} for {} of {}; each row has one", counted(labels, "label"), counted(rows, "row"),
                              *inputs.x));
  }
  if (inputs.x_kv) check_input("--x-kv", *inputs.x_kv, tensors.k.W);
}

void write_imported(Sink& sink, const ImportedAttention& found, const ImportedInputs& inputs, const std::string& problem) {
  ProblemWriter(sink, found, inputs, problem).write();
}

}  // namespace mha::io
