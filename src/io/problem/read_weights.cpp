// The layout and form of the weights, and the output projection.
#include "core/utf8.hpp"
#include "io/problem/problem_parts.hpp"

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "io/json/json_values.hpp"
#include "io/problem/linear_reader.hpp"
#include "io/problem/projections.hpp"

namespace mha::io {
namespace {

constexpr std::string_view layouts[] = {"x@W", "torch"};

Layout read_layout(const Node& node) {
  const std::string& text = expect_text(node);
  if (text == layouts[0]) return Layout::x_at_w;
  if (text == layouts[1]) return Layout::torch;
  fail(node, fmt::format("unknown layout {}.{} Known: \"x@W\" (weights in×out, the default), \"torch\" (weights out×in)",
                         quote(text), did_you_mean(text, layouts)));
}

bool has_packed_weights(const ProblemFields& fields) {
  return fields.num_heads != nullptr || fields.W_QKV != nullptr || fields.W_Q != nullptr || fields.W_K != nullptr ||
         fields.W_V != nullptr;
}

}  // namespace

void read_weights(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.layout != nullptr) problem.layout = read_layout(*fields.layout);
  if (fields.heads != nullptr) {
    read_per_head(fields, problem);
  } else if (has_packed_weights(fields)) {
    read_packed(root, fields, problem);
  } else {
    fail(root,
         "\"heads\" is missing; write the weights of each head, \"heads\": [{\"W_Q\": …, \"W_K\": …, \"W_V\": …}], or "
         "packed ones with \"num_heads\"");
  }
}

void read_output_projection(const Node& root, const ProblemFields& fields, Problem& problem) {
  if (fields.W_O == nullptr)
    fail(root,
         "\"W_O\" is missing: without it the heads are never mixed; write the matrix, or \"W_O\": \"identity\" to leave "
         "them side by side on purpose");
  if (const std::string* text = fields.W_O->as<std::string>()) {
    if (*text != "identity") fail(*fields.W_O, fmt::format("found {}, expected a matrix or \"identity\"", quote(*text)));
    if (fields.b_O != nullptr)
      fail(*fields.b_O,
           "b_O stands beside \"W_O\": \"identity\", which is no projection and has no bias; leave b_O out, or "
           "write W_O as a matrix");
    problem.output_is_concat = true;
    return;
  }
  const OperandShape concat{"Concat", problem.queries(), problem.heads * problem.d_v()};
  problem.O = take_linear({"O", "d_out", {fields.W_O}, {fields.b_O}}, concat, problem.layout);
}

}  // namespace mha::io
