// A problem, or parts of it, in the words of the problem file.
#include "io/problem/problem_writer.hpp"

#include <algorithm>
#include <string>

#include "core/mask.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array(Spread::line);
  for (const std::string& text : texts) json.text(text);
  json.end();
}

void write_integers(JsonWriter& json, std::string_view key, const std::vector<Index>& integers) {
  json.key(key);
  json.begin_array(Spread::line);
  for (const Index integer : integers) json.integer(integer);
  json.end();
}

void write_align(JsonWriter& json, const Align& align) {
  switch (align.kind) {
    case Align::Kind::top_left: return json.text("align", "top-left");
    case Align::Kind::bottom_right: return json.text("align", "bottom-right");
    case Align::Kind::offset: return json.integer("align", align.offsets.front());
    case Align::Kind::per_item: return write_integers(json, "align", align.offsets);
  }
}

// {"window": {"left": 1, "right": null, "align": "top-left"}}
void write_rule(JsonWriter& json, const Mask& mask) {
  json.begin_object(Spread::line);
  json.key(mask_name(mask.kind));
  json.begin_object(Spread::line);
  if (mask.kind == Mask::Kind::window) {
    json.integer("left", mask.left);
    json.integer("right", mask.right);
  }
  if (mask.slopes) {
    json.key("slopes");
    json.row(mask.slopes->data(), static_cast<Index>(mask.slopes->size()));
  }
  if (mask.align) write_align(json, *mask.align);
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

void write_mask(JsonWriter& json, const Mask& mask, bool with_matrices) {
  switch (mask.kind) {
    case Mask::Kind::padding:
    case Mask::Kind::allow:
    case Mask::Kind::block:
    case Mask::Kind::add:
      if (!with_matrices) return json.text(mask_name(mask.kind));
      json.begin_object();
      json.key(mask_name(mask.kind));
      write_axes(json, mask.matrix, mask.matrix_axes);
      return json.end();
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
void write_linear(const ProblemPen& pen, const Linear& linear, std::string_view name, Index head = 0) {
  const std::string W = std::string("W_").append(name), b = std::string("b_").append(name);
  if (pen.references != nullptr) {
    pen.references->write(pen.json, W);
    return pen.references->write(pen.json, b);
  }
  pen.json.key(W);
  pen.json.matrix(linear.W.matrix(0, head), linear.W.shape().rows, linear.W.shape().cols);
  if (!linear.b) return;
  pen.json.key(b);
  pen.json.row(linear.b->matrix(0, head), linear.b->shape().cols);
}

void write_input(const ProblemPen& pen, std::string_view key, const Tensor& tensor) {
  if (pen.references != nullptr) return pen.references->write(pen.json, key);
  pen.json.key(key);
  write_axes(pen.json, tensor, pen.problem.batched ? 3 : 2);
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

void write_packed(const ProblemPen& pen) {
  const Problem& problem = pen.problem;
  pen.json.integer("num_heads", problem.heads);
  if (problem.grouped) pen.json.integer("num_kv_heads", problem.kv_heads);
  if (problem.fused) return write_linear(pen, pen.references != nullptr ? Linear{} : fused_weights(problem), "QKV");
  write_linear(pen, problem.Q, "Q");
  write_linear(pen, problem.K, "K");
  write_linear(pen, problem.V, "V");
}

// The list `heads` or `kv_heads`, whose entries hold what `write` writes of a head.
template <typename WriteHead>
void write_list_of_heads(JsonWriter& json, std::string_view key, Index heads, WriteHead write) {
  json.key(key);
  json.begin_array();
  for (Index head = 0; head < heads; ++head) {
    json.begin_object();
    write(head);
    json.end();
  }
  json.end();
}

void write_heads(const ProblemPen& pen) {
  const Problem& problem = pen.problem;
  const auto write_keys_and_values = [&](Index head) {
    write_linear(pen, problem.K, "K", head);
    write_linear(pen, problem.V, "V", head);
  };
  write_list_of_heads(pen.json, "heads", problem.heads, [&](Index head) {
    const std::string name = problem.head_names.empty() ? "" : problem.head_names[static_cast<std::size_t>(head)];
    if (!name.empty()) pen.json.text("name", name);
    write_linear(pen, problem.Q, "Q", head);
    if (!problem.grouped) write_keys_and_values(head);
  });
  if (problem.grouped) write_list_of_heads(pen.json, "kv_heads", problem.kv_heads, write_keys_and_values);
}

}  // namespace

Linear fused_weights(const Problem& problem) {
  const bool out_by_in = problem.layout == Layout::torch;
  Linear fused{join(problem.Q.W, problem.K.W, problem.V.W, out_by_in), std::nullopt};
  if (problem.Q.b) fused.b = join(*problem.Q.b, *problem.K.b, *problem.V.b, false);
  return fused;
}

void write_problem(Sink& sink, const Problem& problem, const MatrixReferences* references) {
  JsonWriter json(sink);
  json.begin_object();
  for (const ProblemKey& row : keys_of_problem())
    if (row.write != nullptr) row.write({json, problem, references == nullptr, references});
  json.end();
  json.finish();
}

void write_caption(JsonWriter& json, const Caption& caption) {
  if (!caption.bilingual) return json.text(caption.en);
  json.begin_object(Spread::line);
  json.text("en", caption.en);
  json.text("zh", caption.zh);
  json.end();
}

void write_labels(JsonWriter& json, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  json.key(key);
  if (labels.size() == 1) return write_texts(json, labels.front());
  json.begin_array();
  for (const std::vector<std::string>& item : labels) write_texts(json, item);
  json.end();
}

void write_title(const ProblemPen& pen) {
  if (pen.problem.title.empty()) return;
  pen.json.key("title");
  write_caption(pen.json, pen.problem.title);
}

void write_description(const ProblemPen& pen) {
  if (pen.problem.description.empty()) return;
  pen.json.key("description");
  write_caption(pen.json, pen.problem.description);
}

void write_tokens(const ProblemPen& pen) {
  write_labels(pen.json, "tokens", pen.problem.tokens);
}

void write_tokens_kv(const ProblemPen& pen) {
  write_labels(pen.json, "tokens_kv", pen.problem.tokens_kv);
}

void write_X(const ProblemPen& pen) {
  write_input(pen, "X", pen.problem.X);
}

void write_X_kv(const ProblemPen& pen) {
  if (pen.references != nullptr || pen.problem.X_kv) write_input(pen, "X_kv", pen.problem.keys_from());
}

void write_weights(const ProblemPen& pen) {
  const bool torch = pen.problem.layout == Layout::torch;
  if (torch || pen.references != nullptr) pen.json.text("layout", torch ? "torch" : "x@W");
  if (pen.problem.packed) {
    write_packed(pen);
  } else {
    write_heads(pen);
  }
}

void write_output_projection(const ProblemPen& pen) {
  if (!pen.problem.output_is_concat) return write_linear(pen, pen.problem.O, "O");
  pen.json.text("W_O", "identity");
}

void write_masks(const ProblemPen& pen) {
  const std::vector<Mask>& masks = pen.problem.masks;
  pen.json.key("mask");
  if (!pen.problem.mask_is_list)
    return masks.empty() ? pen.json.text("none") : write_mask(pen.json, masks.front(), pen.with_matrices);
  pen.json.begin_array(pen.with_matrices ? Spread::lines : Spread::line);
  for (const Mask& mask : masks) write_mask(pen.json, mask, pen.with_matrices);
  pen.json.end();
}

void write_scale(const ProblemPen& pen) {
  switch (pen.problem.scale.kind) {
    case Scale::Kind::inverse_root_of_d_k: return;
    case Scale::Kind::number: return pen.json.number("scale", pen.problem.scale.number);
    case Scale::Kind::none: return pen.json.text("scale", "none");
  }
}

void write_softcap(const ProblemPen& pen) {
  if (pen.problem.softcap) pen.json.number("softcap", *pen.problem.softcap);
}

void write_rope(const ProblemPen& pen) {
  if (!pen.problem.rope) return;
  const Rope& rope = *pen.problem.rope;
  pen.json.key("rope");
  pen.json.begin_object(Spread::line);
  pen.json.number("base", rope.base);
  pen.json.text("pairing", rope.pairing == Pairing::half ? "half" : "interleaved");
  pen.json.integer("dims", rope.dims);
  pen.json.integer("start", rope.start);
  if (rope.positions) write_integers(pen.json, "positions", *rope.positions);
  if (rope.positions_kv) write_integers(pen.json, "positions_kv", *rope.positions_kv);
  pen.json.end();
}

}  // namespace mha::io
