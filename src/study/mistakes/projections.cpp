// Weights of per-head and of packed problems in one form, and back.
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

// One matrix for each head → all heads side by side.
Tensor side_by_side(const Tensor& per_head, bool stored_transposed) {
  const Shape& from = per_head.shape();
  const Index rows = stored_transposed ? from.cols : from.rows, d = stored_transposed ? from.rows : from.cols;
  Tensor result({1, 1, rows, from.heads * d});
  for (Index head = 0; head < from.heads; ++head)
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < d; ++c)
        result.at(0, 0, r, head * d + c) = stored_transposed ? per_head.at(0, head, c, r) : per_head.at(0, head, r, c);
  return result;
}

// The way back.
Tensor cut(const Tensor& all, Index heads) {
  const Shape& from = all.shape();
  const Index d = from.cols / heads;
  Tensor result({1, heads, from.rows, d});
  for (Index head = 0; head < heads; ++head)
    for (Index r = 0; r < from.rows; ++r)
      for (Index c = 0; c < d; ++c) result.at(0, head, r, c) = all.at(0, 0, r, head * d + c);
  return result;
}

ValueId all_heads_constant(PlanEditor& edit, const Problem& problem, const Projection& projection, ValueId old,
                           const Tensor& all) {
  const std::string symbol = edit.operand(old).symbol + "′";
  const Value::Role role = edit.operand(old).role;
  return edit.constant(symbol, problem.packed ? all : cut(all, problem.*projection.heads), role);
}

}  // namespace

StepId product_of(const Projection& projection, const Problem& problem) {
  return problem.packed ? projection.packed : projection.id;
}

Tensor weights_of(const Projection& projection, const Problem& problem) {
  return side_by_side((problem.*projection.linear).W, problem.layout == Layout::torch);
}

std::optional<Tensor> bias_of(const Projection& projection, const Problem& problem) {
  const std::optional<Tensor>& b = (problem.*projection.linear).b;
  return b ? std::optional(side_by_side(*b, false)) : std::nullopt;
}

void set_weights(PlanEditor& edit, const Problem& problem, const Projection& projection, const Tensor& W) {
  const ValueId old = edit.step(product_of(projection, problem)).in[1];
  const ValueId changed = all_heads_constant(edit, problem, projection, old, W);
  Step& product = edit.step(product_of(projection, problem));
  product.in[1] = changed;
  product.transposed = false;
}

void set_bias(PlanEditor& edit, const Problem& problem, const Projection& projection, const Tensor& b) {
  const ValueId old = edit.step(product_of(projection, problem)).in[2];
  const ValueId changed = all_heads_constant(edit, problem, projection, old, b);
  edit.step(product_of(projection, problem)).in[2] = changed;
}

void make_heads(PlanEditor& edit, const Problem& problem, const Projection& projection, Step how) {
  how.id = projection.id;
  if (problem.packed) {
    how.in.insert(how.in.begin(), edit.value(projection.packed));
    edit.replace(std::move(how));
  } else {
    edit.append({Op::merge, projection.id, {}});
    edit.append(std::move(how));
  }
}

Tensor columns(const Tensor& matrix, const std::vector<Index>& chosen) {
  const Index rows = matrix.shape().rows;
  Tensor result({1, 1, rows, static_cast<Index>(chosen.size())});
  for (Index r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < chosen.size(); ++c)
      result.at(0, 0, r, static_cast<Index>(c)) = matrix.at(0, 0, r, chosen[c]);
  return result;
}

}  // namespace mha::study
