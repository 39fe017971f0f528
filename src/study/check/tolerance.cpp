// How far off the result of a step may be: one function for each kind of step.
#include "study/check/tolerance.hpp"

#include <algorithm>

#include "study/check/operand.hpp"
#include "study/check/softmax_bounds.hpp"

namespace mha::study {
namespace {

class Radii {
 public:
  Radii(const Plan& plan, const Step& step, const std::vector<Uncertain>& values, const Tensor& result, double noise)
      : plan_(plan), step_(step), values_(values), result_(result), shape_(result.shape()), noise_(noise), radii_(shape_) {}

  Tensor compute() {
    for (Index item = 0; item < shape_.batch; ++item)
      for (Index head = 0; head < shape_.heads; ++head) {
        double* out = radii_.matrix(item, head);
        switch (step_.op) {
          case Op::product: product(item, head, out); break;
          case Op::rotate: rotate(item, head, out); break;
          case Op::multiply: multiply(item, head, out); break;
          case Op::softcap: softcap(item, head, out); break;
          case Op::add: add(item, head, out); break;
          case Op::softmax: softmax(item, head, out); break;
          case Op::split:
          case Op::merge:
          case Op::copy:
          case Op::relu:
          case Op::reshape:
          case Op::pool: break;  // acts_alike_on_radii
        }
      }
    return std::move(radii_);
  }

 private:
  Operand operand(std::size_t place, Index item, Index head) const {
    return {values_[static_cast<std::size_t>(step_.in[place])], shape_, item, head};
  }

  // (a ± u)·(b ± w) is off by at most |a|·w + u·|b| + u·w.
  static double of_product(double a, double u, double b, double w, double noise) {
    return a * w + u * b + u * w + noise * a * b;
  }

  template <typename Entry>
  void fill(double* out, Entry entry) const {
    for (Index i = 0; i < shape_.rows; ++i)
      for (Index j = 0; j < shape_.cols; ++j) out[i * shape_.cols + j] = entry(i, j);
  }

  void product(Index item, Index head, double* out) const {
    const Operand a = operand(0, item, head), b = operand(1, item, head);
    const Shape& left = plan_.value(step_.in[0]).shape;
    const Index inner = step_.first_transposed ? left.rows : left.cols;
    const bool a_turned = step_.first_transposed, b_turned = step_.transposed;
    fill(out, [&](Index i, Index j) {
      double sum = 0;
      for (Index k = 0; k < inner; ++k) {
        const Index a_row = a_turned ? k : i, a_col = a_turned ? i : k;
        const Index b_row = b_turned ? j : k, b_col = b_turned ? k : j;
        sum +=
            of_product(a.size(a_row, a_col), a.radius(a_row, a_col), b.size(b_row, b_col), b.radius(b_row, b_col), noise_);
      }
      return sum;
    });
    add_terms(2, item, head, out);
  }

  void add_terms(std::size_t first, Index item, Index head, double* out) const {
    for (std::size_t place = first; place < step_.in.size(); ++place) {
      const Operand term = operand(place, item, head);
      for (Index i = 0; i < shape_.rows; ++i)
        for (Index j = 0; j < shape_.cols; ++j) out[i * shape_.cols + j] += term.radius(i, j) + noise_ * term.size(i, j);
    }
  }

  void add(Index item, Index head, double* out) const {
    std::fill_n(out, shape_.rows * shape_.cols, 0.0);
    add_terms(0, item, head, out);
  }

  void multiply(Index item, Index head, double* out) const {
    const Operand a = operand(0, item, head), b = operand(1, item, head);
    fill(out,
         [&](Index i, Index j) { return of_product(a.size(i, j), a.radius(i, j), b.size(i, j), b.radius(i, j), noise_); });
  }

  // Both columns of a pair enter into both.
  void rotate(Index item, Index head, double* out) const {
    const Operand a = operand(0, item, head), cosines = operand(1, item, head), sines = operand(2, item, head);
    const Index pairs = plan_.value(step_.in[1]).shape.cols;
    fill(out, [&](Index i, Index j) { return a.radius(i, j) + noise_ * a.size(i, j); });
    for (Index i = 0; i < shape_.rows; ++i)
      for (Index t = 0; t < pairs; ++t) {
        const Columns pair = columns_of_pair(step_.pairing, t, pairs);
        const double c = cosines.size(i, t), s = sines.size(i, t);
        const double x = out[i * shape_.cols + pair.first], y = out[i * shape_.cols + pair.second];
        out[i * shape_.cols + pair.first] = x * c + y * s;
        out[i * shape_.cols + pair.second] = x * s + y * c;
      }
  }

  // tanh is steepest where its argument is nearest to 0.
  void softcap(Index item, Index head, double* out) const {
    const Operand a = operand(0, item, head);
    fill(out, [&](Index i, Index j) {
      const double nearest = std::max(0.0, a.size(i, j) - a.radius(i, j)) / step_.cap;
      const double slope = 1 - std::tanh(nearest) * std::tanh(nearest);
      return a.radius(i, j) * slope + noise_ * std::min(a.size(i, j), step_.cap);
    });
  }

  void softmax(Index item, Index head, double* out) const {
    switch (step_.softmax.over) {
      case Softmax::Over::row:
        for (Index i = 0; i < shape_.rows; ++i) normalise(item, head, out, {i, 1, 0, shape_.cols, head, 1});
        return;
      case Softmax::Over::column:
        for (Index j = 0; j < shape_.cols; ++j) normalise(item, head, out, {0, shape_.rows, j, 1, head, 1});
        return;
      case Softmax::Over::heads:
        for (Index i = 0; i < shape_.rows; ++i)
          for (Index j = 0; j < shape_.cols; ++j) normalise(item, head, out, {i, 1, j, 1, 0, shape_.heads});
        return;
      case Softmax::Over::matrix: normalise(item, head, out, {0, shape_.rows, 0, shape_.cols, head, 1}); return;
      case Softmax::Over::items:
        for (Index i = 0; i < shape_.rows; ++i)
          for (Index j = 0; j < shape_.cols; ++j) normalise(item, head, out, {i, 1, j, 1, head, 1, shape_.batch});
        return;
    }
  }

  // Entries that are normalised together, of this item, or of so many; only those of one head are written.
  struct Slice {
    Index first_row, rows, first_col, cols, first_head, heads, items = 0;
  };

  void normalise(Index item, Index head, double* out, const Slice& slice) const {
    std::vector<Exponent> exponents;
    const Index all = slice.heads * std::max<Index>(slice.items, 1);
    for (Index k = 0; k < all; ++k) {
      const Operand z = operand(0, slice.items == 0 ? item : k / slice.heads, slice.first_head + k % slice.heads);
      for (Index i = slice.first_row; i < slice.first_row + slice.rows; ++i)
        for (Index j = slice.first_col; j < slice.first_col + slice.cols; ++j)
          exponents.push_back({z.at(i, j), z.radius(i, j)});
    }
    const std::vector<double> radii = softmax_radii(exponents, step_.softmax);
    const Operand z = operand(0, item, head);
    const double* values = result_.matrix(item, head);
    const Index own = (slice.items == 0 ? 0 : item * slice.heads) + head - slice.first_head;
    std::size_t next = static_cast<std::size_t>(own * slice.rows * slice.cols);
    for (Index i = slice.first_row; i < slice.first_row + slice.rows; ++i)
      for (Index j = slice.first_col; j < slice.first_col + slice.cols; ++j, ++next) {
        const double value = values[i * shape_.cols + j];
        const double size = std::isfinite(value) ? std::abs(value) : 0;
        out[i * shape_.cols + j] = radii[next] + noise_ * size * (2 + z.size(i, j));
      }
  }

  const Plan& plan_;
  const Step& step_;
  const std::vector<Uncertain>& values_;
  const Tensor& result_;
  const Shape& shape_;
  double noise_;
  Tensor radii_;
};

}  // namespace

bool acts_alike_on_radii(const Step& step) {
  switch (step.op) {
    case Op::split:
    case Op::merge:
    case Op::copy:
    case Op::relu:
    case Op::reshape:
    case Op::pool: return true;
    case Op::product:
    case Op::rotate:
    case Op::multiply:
    case Op::softcap:
    case Op::add:
    case Op::softmax: return false;
  }
  return false;
}

std::shared_ptr<const Tensor> result_radius(const Plan& plan, const Step& step, const std::vector<Uncertain>& values,
                                            const Tensor& result, double noise) {
  return std::make_shared<const Tensor>(Radii(plan, step, values, result, noise).compute());
}

}  // namespace mha::study
