// Captions, labels, masks and weights in the words of the problem file.
#include "io/problem/problem_writer.hpp"

#include <algorithm>
#include <string>

#include "core/mask.hpp"

namespace mha::io {
namespace {

using Spread = JsonWriter::Spread;

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array(Spread::line);
  for (const std::string& text : texts) json.text(text);
  json.end();
}

void write_integers(JsonWriter& json, const std::vector<Index>& integers) {
  json.begin_array(Spread::line);
  for (const Index integer : integers) json.integer(integer);
  json.end();
}

void write_limit(JsonWriter& json, std::string_view name, const std::optional<Index>& limit) {
  json.key(name);
  if (limit) {
    json.integer(*limit);
  } else {
    json.null();
  }
}

void write_align(JsonWriter& json, const Align& align) {
  switch (align.kind) {
    case Align::Kind::top_left: return json.text("top-left");
    case Align::Kind::bottom_right: return json.text("bottom-right");
    case Align::Kind::offset: return json.integer(align.offsets.front());
    case Align::Kind::per_item: return write_integers(json, align.offsets);
  }
}

// {"window": {"left": 1, "right": null, "align": "top-left"}}
void write_rule(JsonWriter& json, const Mask& mask) {
  json.begin_object(Spread::line);
  json.key(mask_name(mask.kind));
  json.begin_object(Spread::line);
  if (mask.kind == Mask::Kind::window) {
    write_limit(json, "left", mask.left);
    write_limit(json, "right", mask.right);
  }
  if (mask.slopes) {
    json.key("slopes");
    json.row(mask.slopes->data(), static_cast<Index>(mask.slopes->size()));
  }
  if (mask.align) {
    json.key("align");
    write_align(json, *mask.align);
  }
  json.end();
  json.end();
}

// A tensor with as many axes as the file had: 1 is a row, 2 a matrix, 3 batch×rows×cols, 4 batch×heads×rows×cols. The axes
// that the file leaves out have length 1, so that the numbers lie in memory as the file has them.
void write_axes(JsonWriter& json, const Tensor& tensor, int axes) {
  const Shape& shape = tensor.shape();
  if (axes == 1) return json.row(tensor.data(), shape.cols);
  if (axes == 2) return json.matrix(tensor.data(), shape.size() / shape.cols, shape.cols);
  json.begin_array();
  for (Index item = 0; item < shape.batch; ++item) {
    if (axes == 4) json.begin_array();
    for (Index head = 0; head < shape.heads; ++head) json.matrix(tensor.matrix(item, head), shape.rows, shape.cols);
    if (axes == 4) json.end();
  }
  json.end();
}

void write_matrix_mask(JsonWriter& json, const Mask& mask) {
  json.begin_object();
  json.key(mask_name(mask.kind));
  write_axes(json, mask.matrix, mask.matrix_axes);
  json.end();
}

void write_mask(JsonWriter& json, const Mask& mask, bool with_matrices) {
  switch (mask.kind) {
    case Mask::Kind::padding:
    case Mask::Kind::allow:
    case Mask::Kind::block:
    case Mask::Kind::add:
      if (with_matrices) return write_matrix_mask(json, mask);
      return json.text(mask_name(mask.kind));
    case Mask::Kind::none:
    case Mask::Kind::causal:
    case Mask::Kind::window:
    case Mask::Kind::alibi:
      if (!mask.short_form) return write_rule(json, mask);
      if (!mask.align) return json.text(mask_name(mask.kind));
      return json.text(mask.align->kind == Align::Kind::top_left ? "causal-top-left" : "causal-bottom-right");
  }
}

// {"W_Q": …, "b_Q": …} of one head, or of all heads packed (head 0 of the tensor then).
void write_linear(JsonWriter& json, const Linear& linear, std::string_view name, Index head = 0) {
  const Shape& shape = linear.W.shape();
  json.key(std::string("W_").append(name));
  json.matrix(linear.W.matrix(0, head), shape.rows, shape.cols);
  if (!linear.b) return;
  json.key(std::string("b_").append(name));
  json.row(linear.b->matrix(0, head), linear.b->shape().cols);
}

// Q, K and V side by side again: by columns, or by rows (one behind the other in memory) where weights are out×in.
Tensor join(const Tensor& q, const Tensor& k, const Tensor& v, bool by_rows) {
  Shape shape = q.shape();
  if (by_rows) {
    shape.rows += k.shape().rows + v.shape().rows;
  } else {
    shape.cols += k.shape().cols + v.shape().cols;
  }
  Tensor joined(shape);
  double* to = joined.data();
  const Index stretches = by_rows ? 1 : shape.rows;
  for (Index i = 0; i < stretches; ++i) {
    for (const Tensor* part : {&q, &k, &v}) {
      const Index count = part->size() / stretches;
      to = std::copy_n(part->data() + i * count, count, to);
    }
  }
  return joined;
}

void write_fused(JsonWriter& json, const Problem& problem) {
  write_linear(json, fused_weights(problem), "QKV");
}

void write_packed(JsonWriter& json, const Problem& problem) {
  json.integer("num_heads", problem.heads);
  if (problem.grouped) {
    json.integer("num_kv_heads", problem.kv_heads);
  }
  if (problem.fused) return write_fused(json, problem);
  write_linear(json, problem.Q, "Q");
  write_linear(json, problem.K, "K");
  write_linear(json, problem.V, "V");
}

void write_keys_and_values(JsonWriter& json, const Problem& problem, Index head) {
  write_linear(json, problem.K, "K", head);
  write_linear(json, problem.V, "V", head);
}

void write_heads(JsonWriter& json, const Problem& problem) {
  json.key("heads");
  json.begin_array();
  for (Index head = 0; head < problem.heads; ++head) {
    json.begin_object();
    const std::string name = problem.head_names.empty() ? "" : problem.head_names[static_cast<std::size_t>(head)];
    if (!name.empty()) {
      json.text("name", name);
    }
    write_linear(json, problem.Q, "Q", head);
    if (!problem.grouped) write_keys_and_values(json, problem, head);
    json.end();
  }
  json.end();
  if (!problem.grouped) return;
  json.key("kv_heads");
  json.begin_array();
  for (Index head = 0; head < problem.kv_heads; ++head) {
    json.begin_object();
    write_keys_and_values(json, problem, head);
    json.end();
  }
  json.end();
}

}  // namespace

Linear fused_weights(const Problem& problem) {
  const bool out_by_in = problem.layout == Layout::torch;
  Linear fused{join(problem.Q.W, problem.K.W, problem.V.W, out_by_in), std::nullopt};
  if (problem.Q.b) fused.b = join(*problem.Q.b, *problem.K.b, *problem.V.b, false);
  return fused;
}

void write_caption(JsonWriter& json, const Caption& caption) {
  if (!caption.bilingual) return json.text(caption.en);
  json.begin_object(Spread::line);
  json.text("en", caption.en);
  json.text("zh", caption.zh);
  json.end();
}

void write_labels(JsonWriter& json, const Labels& labels) {
  if (labels.size() == 1) return write_texts(json, labels.front());
  json.begin_array();
  for (const std::vector<std::string>& item : labels) write_texts(json, item);
  json.end();
}

void write_rope(JsonWriter& json, const Rope& rope) {
  json.begin_object(Spread::line);
  json.number("base", rope.base);
  json.text("pairing", rope.pairing == Pairing::half ? "half" : "interleaved");
  json.integer("dims", rope.dims);
  json.integer("start", rope.start);
  if (rope.positions) {
    json.key("positions");
    write_integers(json, *rope.positions);
  }
  if (rope.positions_kv) {
    json.key("positions_kv");
    write_integers(json, *rope.positions_kv);
  }
  json.end();
}

void write_masks(JsonWriter& json, const Problem& problem, bool with_matrices) {
  if (!problem.mask_is_list)
    return problem.masks.empty() ? json.text("none") : write_mask(json, problem.masks.front(), with_matrices);
  json.begin_array(with_matrices ? Spread::lines : Spread::line);
  for (const Mask& mask : problem.masks) write_mask(json, mask, with_matrices);
  json.end();
}

void write_parameters(JsonWriter& json, const Problem& problem) {
  if (problem.X_kv) {
    json.key("X_kv");
    write_axes(json, *problem.X_kv, problem.batched ? 3 : 2);
  }
  if (problem.layout == Layout::torch) {
    json.text("layout", "torch");
  }
  if (problem.packed) {
    write_packed(json, problem);
  } else {
    write_heads(json, problem);
  }
  if (!problem.output_is_concat) return write_linear(json, problem.O, "O");
  json.text("W_O", "identity");
}

}  // namespace mha::io
