// Every key of a problem file: what stands in its objects, and how the problem's own are read and written.
#pragma once

#include "core/problem.hpp"
#include "io/json/tree.hpp"
#include "io/json/writer.hpp"

namespace mha::io {

// What is written, where to, and how.
struct ProblemPen {
  JsonWriter& json;
  const Problem& problem;
  bool with_matrices = true;  // else masks that hold a matrix are told by their kind alone
  bool resolved = false;      // what the file leaves to a default is written out, as a trace does
  bool bare = false;          // of the weights their matrices alone
  Dtype dtype = Dtype::f64;   // of which they are
};

// What a key says: a rule (which stands in the config of a trace as well), weights, or what goes round them.
enum class Part { frame, weights, rule };

// A key of the problem itself. X and the weights are read together, before the others; such keys have no `read` of their
// own, and no `write` where another of them writes all.
struct ProblemKey {
  std::string_view key;
  Part part;
  void (*read)(Node& node, Problem& problem) = nullptr;  // once X and the weights are known, in the order of the table
  void (*write)(const ProblemPen& pen) = nullptr;        // nothing where the problem does not have it
};
std::span<const ProblemKey> keys_of_problem();

inline constexpr auto head_keys = std::to_array<std::string_view>({"name", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"});
inline constexpr auto kv_head_keys = std::to_array<std::string_view>({"W_K", "W_V", "b_K", "b_V"});
inline constexpr auto norm_keys = std::to_array<std::string_view>({"kind", "gamma", "beta", "eps"});
inline constexpr auto mlp_keys =
    std::to_array<std::string_view>({"W_gate", "b_gate", "W_1", "b_1", "activation", "W_2", "b_2"});
inline constexpr auto loss_keys = std::to_array<std::string_view>({"mse", "half_squares", "cross_entropy", "gradient"});
inline constexpr auto mask_keys =
    std::to_array<std::string_view>({"causal", "window", "padding", "allow", "block", "add", "alibi"});
inline constexpr auto causal_keys = std::to_array<std::string_view>({"align"});
inline constexpr auto window_keys = std::to_array<std::string_view>({"left", "right", "align"});
inline constexpr auto alibi_keys = std::to_array<std::string_view>({"slopes", "align"});
inline constexpr auto matrix_file_keys =
    std::to_array<std::string_view>({"file", "name", "tensor", "transpose", "rows", "cols"});

// The place of a text among those that may stand here; `unknown` is said of another one, with what it may have meant.
std::size_t expect_choice(const Node& node, std::span<const std::string_view> names, const Text& unknown = {});

// The members of an object by their keys.
class Fields {
 public:
  // The node must be an object with no other keys than these. `what` says what the object is for.
  Fields(Node& node, std::span<const std::string_view> known, const Text& what);
  static Fields of_problem(Node& root);
  static Fields of_layer(Node& layer);  // of a stack: the same keys but those that go round the weights and rules

  Node* operator[](std::string_view key) const;  // one of the known; null where the file does not have it
  Node& node() const { return *node_; }          // the object itself

 private:
  Node* node_;
  std::span<const std::string_view> known_;
};

// Each is read and checked against those before it, in this order.
void read_inputs(const Fields& fields, Problem& problem);  // X, X_kv
void read_layout(const Fields& fields, Problem& problem);
void read_weights(const Fields& fields, Problem& problem);            // heads or packed
void read_output_projection(const Fields& fields, Problem& problem);  // W_O
void read_masks(Node& node, Problem& problem);
void read_residual(Node& node, Problem& problem);
void read_norm_place(Node& node, Problem& problem);
void read_attention_norm(Node& node, Problem& problem);
void read_mlp(Node& node, Problem& problem);
void read_mlp_norm(Node& node, Problem& problem);
void read_layers(Node& node, Problem& problem);
void read_final_norm(Node& node, Problem& problem);
void read_loss(Node& node, Problem& problem);
void check_norm_place(const Fields& fields, const Problem& problem);  // when all of the layer is read

// What the weights are multiplied with: X, X_kv or Concat.
struct OperandShape {
  Text name;
  Index rows;
  Index cols;
};

// The matrices of all heads, or one for all of them, in the file.
struct LinearNodes {
  std::string_view name;   // "Q": the matrices are W_Q and the biases b_Q
  std::string_view width;  // what the columns of X·W are called: "d_k"
  std::vector<Node*> W;
  std::vector<Node*> b;     // null where there is none
  bool others_fit = false;  // other weights lie as the layout says
};

// Takes the numbers out of the nodes after checking them against the operand, against one another and against their biases.
Linear take_linear(const LinearNodes& nodes, const OperandShape& operand, Layout layout);

// Whether these weights fit the operand as the layout has them, and would not the other way round.
bool lies_so(const Node& node, const OperandShape& operand, Layout layout);

// Columns of X·W.
Index width_of(const Shape& shape, Layout layout);

// The columns first … first + count − 1 of X·W + b.
Linear cut(const Linear& whole, Index first, Index count, Layout layout);

void write_title(const ProblemPen& pen);
void write_X(const ProblemPen& pen);
void write_X_kv(const ProblemPen& pen);
void write_layout(const ProblemPen& pen);
void write_weights(const ProblemPen& pen);  // in the form in which the problem gave them
void write_masks(const ProblemPen& pen);    // as the person wrote them
void write_norm_place(const ProblemPen& pen);
void write_norm(const ProblemPen& pen, std::string_view key, const std::optional<NormRule>& norm);
void write_mlp(const ProblemPen& pen);
void write_layers(const ProblemPen& pen);
void write_loss(const ProblemPen& pen);

// The parameters that stand in this object: "norm", "mlp".
bool has_parameters_of(const Problem& layer, std::string_view place);
void write_parameters_of(const ProblemPen& pen, std::string_view place);

// A tensor with as many axes as the file had: 1 is a row, 2 a matrix, 3 batch×rows×cols, 4 batch×heads×rows×cols. The axes
// that the file leaves out have length 1, so that the numbers lie in memory as the file has them.
void write_axes(JsonWriter& json, const Tensor& tensor, int axes);

// Labels of tokens; nothing where there are none.
void write_labels(JsonWriter& json, std::string_view key, const Labels& labels);

}  // namespace mha::io
