// Error bounds of what only a backward pass computes: first-order bounds, operation by operation.
#include <algorithm>
#include <cmath>

#include "core/op_rules.hpp"
#include "study/check/exactness.hpp"

namespace mha::study {
namespace {

// A number and how far it may be off, through each operation with its rounding.
class Bounded {
 public:
  Bounded(double number, double off, double eps) : number_(number), off_(off), eps_(eps) {}

  friend Bounded operator+(const Bounded& a, const Bounded& b) { return a.rounded(a.number_ + b.number_, a.off_ + b.off_); }
  friend Bounded operator-(const Bounded& a, const Bounded& b) { return a.rounded(a.number_ - b.number_, a.off_ + b.off_); }
  friend Bounded operator*(const Bounded& a, const Bounded& b) {
    const double moved = std::abs(a.number_) * b.off_ + (std::abs(b.number_) + b.off_) * a.off_;
    return a.rounded(a.number_ * b.number_, moved);
  }
  friend Bounded operator/(const Bounded& a, const Bounded& b) {
    const double least = std::abs(b.number_) - b.off_, quotient = a.number_ / b.number_;
    if (!(least > 0)) return {quotient, std::numeric_limits<double>::infinity(), a.eps_};
    return a.rounded(quotient, (a.off_ + std::abs(quotient) * b.off_) / least);
  }
  double number() const { return number_; }
  double off() const { return off_; }
  // The sums of a mean may be taken in any order: `sizes` is that of the sizes of its terms.
  Bounded widened(double sizes) const { return {number_, off_ + eps_ * sizes, eps_}; }

 private:
  Bounded rounded(double number, double off) const { return {number, off + eps_ * std::abs(number), eps_}; }

  double number_, off_, eps_;
};

// f′(x). Slopes themselves change by less than 1 for each unit of x, a soft cap's by 0.77/c, that of relu jumps at 0.
// OpenCL 1.2, section 7.4: erfc errs by 16 units in the last place, exp and tanh by 3 and 5, of numbers that are 1 at most.
Bounded bounded_slope(const Step& step, double x, double off, double eps) {
  constexpr double slope_roundings = 32;
  const bool is_exact = step.cap == 0 && (step.activation == Activation::none || step.activation == Activation::relu);
  const double squeezed = step.cap > 0 ? std::tanh(x / step.cap) : 0;
  const double steep = step.cap > 0 ? 1 - squeezed * squeezed : steepness(step.activation, x);
  if (is_exact) return {steep, step.activation == Activation::relu && off > 0 && std::abs(x) <= off ? 1.0 : 0.0, eps};
  return {steep, off / (step.cap > 0 ? step.cap : 1) + slope_roundings * eps, eps};
}

// The mean of a row of sizes up to `sizes` each; of one of its n sums each term is part of n roundings at most.
Bounded mean_of(const std::vector<Bounded>& row, double eps) {
  double sum = 0, sizes = 0, off = 0;
  for (const Bounded& term : row) {
    sum += term.number();
    sizes += std::abs(term.number());
    off += term.off();
  }
  const auto n = static_cast<double>(row.size());
  return Bounded(sum / n, off / n, eps).widened(sizes + std::abs(sum / n));
}

// The rows of h = g ∘ γ and of x: (h − mean of h − x̂·mean of h ∘ x̂) / σ at this column.
Bounded through_norm(const Norm& norm, const std::vector<Bounded>& h, const std::vector<Bounded>& x, std::size_t column,
                     double eps) {
  const bool is_layer = norm.kind == Norm::Kind::layer;
  const Bounded none(0, 0, 0), x_mean = is_layer ? mean_of(x, eps) : none;
  std::vector<Bounded> normed, squares, along;
  for (const Bounded& each : x) normed.push_back(is_layer ? each - x_mean : each);
  for (const Bounded& each : normed) squares.push_back(each * each);
  const Bounded square = mean_of(squares, eps) + Bounded(norm.eps, eps * norm.eps, eps);
  const double root = std::sqrt(square.number());
  const Bounded sigma = Bounded(root, square.off() / root, eps).widened(2 * root);
  for (Bounded& each : normed) each = each / sigma;
  for (std::size_t j = 0; j < h.size(); ++j) along.push_back(h[j] * normed[j]);
  const Bounded own = is_layer && !norm.mean_is_constant ? h[column] - mean_of(h, eps) : h[column];
  return (norm.deviation_is_constant ? own : own - normed[column] * mean_of(along, eps)) / sigma;
}

}  // namespace

Tensor radius_of_slope(const Plan& plan, const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                       const FloatingPoint& arithmetic) {
  const double eps = arithmetic.eps;
  Tensor radius(result.shape());
  for_each_entry(result.shape(), [&](const Entry& entry) {
    std::vector<std::vector<Bounded>> read(step.in.size());
    for_each_term(plan, step, entry, [&](const Term& term) {
      const auto& [operand, at] = *term.begin();
      const std::shared_ptr<const Tensor>& off = operands[operand].radius;
      read[operand].emplace_back(operands[operand].numbers->at(at), off ? off->at(at) : 0, eps);
    });
    Bounded own = read[0][0];
    if (step.op == Op::difference) {
      const double sizes = std::abs(own.number()) + std::abs(read[1][0].number());
      own = (own - read[1][0]).widened(sizes);  // of an r that was not rounded yet
      if (read.size() > 2) own = own * read[2][0];
    } else if (step.op == Op::slope) {
      own = own * bounded_slope(step, read[1][0].number(), read[1][0].off(), eps);
      if (read.size() > 2) own = own * read[2][0];
    } else {
      for (std::size_t j = 0; j < read[0].size() && read.size() > 2; ++j) read[0][j] = read[0][j] * read[2][j];
      own = through_norm(step.norm, read[0], read[1], static_cast<std::size_t>(entry.column), eps);
    }
    radius.at(entry) = own.off() + 8 * arithmetic.least;
  });
  return radius;
}

}  // namespace mha::study
