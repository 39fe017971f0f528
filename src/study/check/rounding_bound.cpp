// Standard error bounds (Higham 2002, sections 2.2 and 3.1). eps is the distance from 1 to the next number, twice the error
// of one rounding. What follows counts eps where half of it would do: the other half is for the reference, which errs as
// much when the device computes in float64 as well, and for terms of second order.
#include "study/check/rounding_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/engine.hpp"

namespace mha::study {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Of the dtype: eps, the least number that is kept in full (smaller ones may become 0 on a device), the greatest.
struct Precision {
  double eps, least, greatest;
};
template <typename T>
constexpr Precision precision_of() {
  using Limits = std::numeric_limits<T>;
  return {Limits::epsilon(), Limits::min(), Limits::max()};
}

// OpenCL 1.2, section 7.4: tanh errs by at most 5 units in the last place (each at most eps of the number), exp by 3, a
// quotient by 2.5; the host's own library by less. softcap: the quotient, tanh (which shrinks a relative error of its
// argument), the product, and the cap itself, rounded on its way to the device: 2.5 + 5 + 0.5 + 0.5, and 2 for the host.
constexpr double softcap_roundings = 11;
// Beside its sum, a weight has e^… above and below the line and the quotient: 3 + 3 + 2.5, and 2 for the host.
constexpr double weight_roundings = 11;

Tensor absolute(const Tensor& from) {
  Tensor to(from.shape());
  for (Index i = 0; i < to.size(); ++i) to.data()[i] = std::abs(from.data()[i]);
  return to;
}

// Σ|aᵢ·bᵢ| (+ |bias|), or Σ|terms|: the step on the magnitudes.
std::shared_ptr<const Tensor> of_magnitudes(const Plan& plan, const Step& step, const Operands& operands) {
  Operands magnitudes;
  for (const auto& operand : operands) magnitudes.push_back(std::make_shared<const Tensor>(absolute(*operand)));
  return recomputed(plan, step, magnitudes);
}

// roundings·eps·size; `terms` products may each lose what is smaller than the least number. Where the sum of the magnitudes
// passes the greatest number, so may a partial sum, and anything can come out.
double bound_of(double size, double roundings, double terms, const Precision& precision) {
  if (size > precision.greatest) return infinity;
  return roundings * precision.eps * size + terms * precision.least;
}

// n products and the biases: each product is rounded once, and each of the sums behind it.
Tensor bound_of_sums(const Plan& plan, const Step& step, const Operands& operands, double terms,
                     const Precision& precision) {
  const std::shared_ptr<const Tensor> sizes = of_magnitudes(plan, step, operands);
  Tensor bound(sizes->shape());
  for (Index i = 0; i < bound.size(); ++i) bound.data()[i] = bound_of(sizes->data()[i], terms, terms, precision);
  return bound;
}

// Where a term is infinite already, no sum of finite ones passed the greatest number: the infinity must be there.
Tensor bound_of_masked(const Plan& plan, const Step& step, const Operands& operands, const Tensor& reference,
                       const Precision& precision) {
  Tensor bound = bound_of_sums(plan, step, operands, static_cast<double>(step.in.size()), precision);
  const Shape& shape = reference.shape();
  const auto is_infinite = [&](const auto& operand, Index item, Index head, Index i, Index j) {
    return std::isinf(operand->spread(shape, item, head, i, j));
  };
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      for (Index i = 0; i < shape.rows; ++i)
        for (Index j = 0; j < shape.cols; ++j)
          if (std::any_of(operands.begin(), operands.end(),
                          [&](const auto& operand) { return is_infinite(operand, item, head, i, j); }))
            bound.at(item, head, i, j) = 0;
  return bound;
}

double terms_of_product(const Step& step, const Operands& operands) {
  const Shape& a = operands[0]->shape();
  return static_cast<double>((step.first_transposed ? a.rows : a.cols) + static_cast<Index>(step.in.size()) - 2);
}

// x·cos − y·sin and x·sin + y·cos: two products and their sum.
Tensor bound_of_rotation(const Step& step, const Operands& operands, const Shape& shape, const Precision& precision) {
  const Tensor &a = *operands[0], &cosines = *operands[1], &sines = *operands[2];
  const Index pairs = cosines.shape().cols;
  Tensor bound(shape);
  bound.fill(0);  // the columns behind the last pair only move
  for (Index item = 0; item < shape.batch; ++item)
    for (Index head = 0; head < shape.heads; ++head)
      for (Index i = 0; i < shape.rows; ++i)
        for (Index t = 0; t < pairs; ++t) {
          const Columns pair = columns_of_pair(step.pairing, t, pairs);
          const double x = std::abs(a.spread(shape, item, head, i, pair.first));
          const double y = std::abs(a.spread(shape, item, head, i, pair.second));
          const double c = std::abs(cosines.spread(shape, item, head, i, t));
          const double s = std::abs(sines.spread(shape, item, head, i, t));
          bound.at(item, head, i, pair.first) = bound_of(x * c + y * s, 2, 2, precision);
          bound.at(item, head, i, pair.second) = bound_of(x * s + y * c, 2, 2, precision);
        }
  return bound;
}

Tensor bound_of_entries(const Tensor& reference, double roundings, const Precision& precision) {
  Tensor bound(reference.shape());
  for (Index i = 0; i < bound.size(); ++i)
    bound.data()[i] =
        std::isinf(reference.data()[i]) ? 0 : bound_of(std::abs(reference.data()[i]), roundings, 1, precision);
  return bound;
}

// Each z − max is at most 2·max|Z| and is rounded once; its error δ, at most eps·max|Z|, moves the weight by
// A·|δ − Σ A·δ| ≤ 2·A·(1 − A)·eps·max|Z| ≤ eps·max|Z|/2. The sum of `keys` powers and the last quotient err relatively.
// A hidden key has weight 0, exactly.
Tensor bound_of_weights(const Tensor& scores, const Tensor& weights, const Precision& precision) {
  const Index keys = weights.shape().cols;
  Tensor bound(weights.shape());
  for (Index row = 0; row < weights.size() / keys; ++row) {
    const double* z = scores.data() + row * keys;
    double largest = 0;
    for (Index j = 0; j < keys; ++j)
      if (std::isfinite(z[j])) largest = std::max(largest, std::abs(z[j]));
    for (Index j = 0; j < keys; ++j) {
      const double relative = (static_cast<double>(keys) + weight_roundings) * weights.data()[row * keys + j];
      const double allowed = precision.eps * (largest + relative) + precision.least;
      bound.data()[row * keys + j] = z[j] == -infinity ? 0 : allowed;
    }
  }
  return bound;
}

}  // namespace

std::shared_ptr<const Tensor> recomputed(const Plan& plan, const Step& step, const Operands& operands) {
  Plan alone;
  Step same = step;
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    alone.values.push_back(plan.value(step.in[i]));
    alone.values.back().constant = operands[i];
    same.in[i] = static_cast<ValueId>(i);
  }
  alone.values.push_back(plan.value(step.out));
  same.out = static_cast<ValueId>(step.in.size());
  alone.steps.push_back(std::move(same));
  std::vector<bool> keep(alone.values.size(), false);
  keep.back() = true;
  return compute::run(alone, {std::move(keep), Dtype::f64, {}}).values.back();
}

Tensor rounding_bound(const Plan& plan, const Step& step, const Operands& operands, const Tensor& reference, Dtype dtype) {
  const Precision precision = dtype == Dtype::f32 ? precision_of<float>() : precision_of<double>();
  switch (step.op) {
    case Op::product: return bound_of_sums(plan, step, operands, terms_of_product(step, operands), precision);
    case Op::add: return bound_of_masked(plan, step, operands, reference, precision);
    case Op::multiply: return bound_of_entries(reference, 1, precision);
    case Op::rotate: return bound_of_rotation(step, operands, reference.shape(), precision);
    case Op::softcap: return bound_of_entries(reference, softcap_roundings, precision);
    case Op::softmax: return bound_of_weights(*operands[0], reference, precision);
    case Op::split:
    case Op::merge:
    case Op::copy:
    case Op::relu:
    case Op::reshape:
    case Op::pool: break;
  }
  Tensor none(reference.shape());
  none.fill(0);
  return none;
}

}  // namespace mha::study
