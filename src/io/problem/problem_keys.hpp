// Every key of a problem file: what stands in its objects, and how the problem's own are read and written.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "io/json/tree.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {

// A key of the problem itself. X and the weights are read together, before the others; such keys have no `read` of their
// own, and no `write` where another of them writes all.
struct ProblemKey {
  std::string_view key;
  void (*read)(Node& node, Problem& problem) = nullptr;  // once X and the weights are known, in the order of the table
  void (*write)(const ProblemPen& pen) = nullptr;        // nothing where the problem does not have it
};
std::span<const ProblemKey> keys_of_problem();

inline constexpr auto caption_keys = std::to_array<std::string_view>({"en", "zh"});
inline constexpr auto head_keys = std::to_array<std::string_view>({"name", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"});
inline constexpr auto kv_head_keys = std::to_array<std::string_view>({"W_K", "W_V", "b_K", "b_V"});
inline constexpr auto mask_keys =
    std::to_array<std::string_view>({"causal", "window", "padding", "allow", "block", "add", "alibi"});
inline constexpr auto causal_keys = std::to_array<std::string_view>({"align"});
inline constexpr auto window_keys = std::to_array<std::string_view>({"left", "right", "align"});
inline constexpr auto alibi_keys = std::to_array<std::string_view>({"slopes", "align"});
inline constexpr auto rope_keys =
    std::to_array<std::string_view>({"base", "pairing", "dims", "start", "positions", "positions_kv"});
inline constexpr auto matrix_file_keys =
    std::to_array<std::string_view>({"file", "name", "tensor", "transpose", "rows", "cols"});

// The members of an object by their keys.
class Fields {
 public:
  // The node must be an object with no other keys than these. `what` says what the object is for.
  Fields(Node& node, std::span<const std::string_view> known, const Text& what);

  Node* operator[](std::string_view key) const;  // one of the known; null where the file does not have it
  Node& node() const { return *node_; }          // the object itself

 private:
  Node* node_;
  std::span<const std::string_view> known_;
};

// Each is read and checked against those before it, in this order.
void read_inputs(const Fields& fields, Problem& problem);             // X, X_kv
void read_weights(const Fields& fields, Problem& problem);            // heads or packed, layout
void read_output_projection(const Fields& fields, Problem& problem);  // W_O
void read_title(Node& node, Problem& problem);
void read_description(Node& node, Problem& problem);
void read_tokens(Node& node, Problem& problem);
void read_tokens_kv(Node& node, Problem& problem);
void read_masks(Node& node, Problem& problem);
void read_scale(Node& node, Problem& problem);
void read_softcap(Node& node, Problem& problem);
void read_rope(Node& node, Problem& problem);

}  // namespace mha::io
