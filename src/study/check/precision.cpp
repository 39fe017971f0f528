// How exactly an answer's numbers are known.
#include "study/check/precision.hpp"

namespace mha::study {
namespace {

constexpr double enough_evidence = 10;     // one answer in 1,024 would show as much by chance
constexpr double of_another_kind = -8;     // weakens it: a program may work in several kinds
constexpr int decimals_of_worksheets = 3;  // as they print the factor
constexpr int float_digits = 9;            // as many identify every float32: with more, it was float64
constexpr double as_good_as_whole = 1e-9;

bool coarser(const Floats* a, const Floats* b) {
  return b == nullptr || (a != nullptr && a->arithmetic.eps > b->arithmetic.eps);
}

class FormRecogniser {
 public:
  FormRecogniser(std::vector<GivenMatrices>& layers, const ToleranceOptions& options, const TrueNumbers& truth)
      : options_(options) {
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      layers[layer].for_each([&](StepId step, Index head, GivenMatrix& matrix) {
        if (step == StepId::X) return;  // it is copied, not computed
        const Tensor* numbers = truth(layer, step);
        const Shape& own = matrix.numbers.shape();
        const bool same = numbers != nullptr && numbers->shape().heads > head && numbers->shape().has_matrices_as(own);
        matrices_.push_back({step, head, matrix, same ? numbers : nullptr});
      });
  }

  Precision recognise() {
    int digits = 0;
    for (const Placed& one : matrices_) digits = std::max(digits, one.matrix.writing.digits);
    const Floats* computed_in = options_.floats != nullptr ? options_.floats
                                : digits <= float_digits   ? &of_32_bits
                                                           : &of_64_bits;
    for (Placed& one : matrices_) one.form().computed_in = computed_in;
    if (options_.tol || options_.rtol || options_.sigfig) {
      as_asked_for();
    } else {
      recognise_floats();
      recognise_decimals();
    }
    precision_.propagated = !options_.tol && !options_.rtol;
    for (const Placed& one : matrices_) {
      const Floats*& coarsest = precision_.computed_in[static_cast<std::size_t>(one.step)];
      if (coarser(one.matrix.form.computed_in, coarsest)) coarsest = one.matrix.form.computed_in;
      if (coarser(coarsest, precision_.between.computed_in)) precision_.between.computed_in = coarsest;
    }
    return precision_;
  }

 private:
  struct Placed {
    StepId step;
    Index head;
    GivenMatrix& matrix;
    const Tensor* truth;  // null: unknown, or of another shape

    NumberForm& form() { return matrix.form; }

    template <typename Holds>
    bool all_true(Holds holds) const {
      if (truth == nullptr) return false;
      const Index size = truth->shape().rows * truth->shape().cols;
      for (Index item = 0; item < truth->shape().batch; ++item)
        if (!std::all_of(truth->matrix(item, head), truth->matrix(item, head) + size, holds)) return false;
      return true;
    }

    double evidence_for(const Floats& kind) const {
      const Shape& shape = matrix.numbers.shape();
      const auto size = static_cast<std::size_t>(shape.rows * shape.cols);
      double sum = 0;
      for (Index item = 0; item < shape.batch; ++item)
        sum += evidence(kind, {matrix.numbers.matrix(item, 0), size},
                        truth == nullptr ? nullptr : truth->matrix(item, head), matrix.writing);
      return sum;
    }

    // Rounding to the decimals that are written changes nothing.
    bool is_exact_as_written() const {
      const double unit = 2 * half_unit(matrix.writing.decimals);
      return all_true([unit](double number) {
        const double units = number / unit;
        return !std::isfinite(number) ||
               std::abs(units - std::round(units)) <= as_good_as_whole * std::max(1.0, std::abs(units));
      });
    }
  };

  void as_asked_for() {
    NumberForm form = precision_.between;
    if (options_.sigfig) {
      form.digits = options_.sigfig;
    } else {
      form.absolute = options_.tol.value_or(0);
      form.relative = options_.rtol.value_or(0);
    }
    for (Placed& one : matrices_) {
      form.computed_in = one.form().computed_in;
      one.form() = form;
    }
    precision_.between = form;
  }

  // What fits several kinds is of the one for which the whole answer speaks most.
  void recognise_floats() {
    struct Likely {
      const Floats* kind;
      double sum = 0;
      std::vector<Placed*> fit = {};
    };
    std::vector<Likely> kinds;
    for (const Floats& kind : float_kinds) {
      if (&kind == &of_64_bits || (options_.floats != nullptr && options_.floats != &kind)) continue;
      Likely& likely = kinds.emplace_back(Likely{&kind});
      for (Placed& one : matrices_) {
        const double evidence = one.evidence_for(kind);
        likely.sum += std::max(evidence, of_another_kind);
        if (evidence > of_another_kind) likely.fit.push_back(&one);
      }
    }
    std::stable_sort(kinds.begin(), kinds.end(), [](const Likely& a, const Likely& b) { return a.sum > b.sum; });
    for (const Likely& likely : kinds) {
      if (options_.floats == nullptr && likely.sum < enough_evidence) continue;
      for (Placed* one : likely.fit) {
        if (one->form().floats != nullptr) continue;
        one->form().floats = one->form().computed_in = likely.kind;
        if (coarser(likely.kind, precision_.between.floats)) precision_.between.floats = likely.kind;
      }
    }
  }

  // In whole numbers there is nothing to be rounded in between.
  void recognise_decimals() {
    int finest = 0;
    std::optional<int> decimals, digits;
    const auto at_least = [](std::optional<int>& least, int count) { least = std::min(least.value_or(count), count); };
    for (Placed& one : matrices_) {
      const io::Writing& writing = one.matrix.writing;
      if (one.form().floats != nullptr) continue;
      if (writing.all_in_e_notation && writing.digits > 0) {
        one.form().digits = writing.digits;
        one.form().least = half_unit(writing.decimals);
        at_least(digits, writing.digits);
      } else {
        finest = std::max(finest, writing.decimals);
      }
    }
    for (Placed& one : matrices_) {
      NumberForm& form = one.form();
      if (form.floats != nullptr || form.digits) continue;
      const bool is_exact = one.matrix.writing.decimals == 0 || one.is_exact_as_written();
      form.decimals = is_exact ? finest : one.matrix.writing.decimals;
      if (!is_exact) at_least(decimals, form.decimals);
      if (!is_exact && one.step == StepId::scaled) precision_.factor_decimals.insert(form.decimals);
    }
    if (precision_.factor_decimals.empty() && decimals) precision_.factor_decimals.insert(*decimals);
    for (const int own : std::set(precision_.factor_decimals))
      precision_.factor_decimals.insert(std::max(own, decimals_of_worksheets));
    NumberForm& between = precision_.between;
    if (decimals) {
      between.floats = nullptr;
      between.decimals = *decimals;
    } else if (digits) {
      between.floats = nullptr;
      between.digits = digits;
    } else if (between.floats == nullptr) {
      between.decimals = finest;
      if (finest == 0) between.floats = &of_64_bits;
    }
  }

  const ToleranceOptions& options_;
  std::vector<Placed> matrices_;
  Precision precision_;
};

}  // namespace

const FloatingPoint& Precision::arithmetic(StepId step) const {
  const Floats* own = computed_in[static_cast<std::size_t>(step)];
  return (own != nullptr ? own : between.computed_in)->arithmetic;
}

Precision recognise_forms(std::vector<GivenMatrices>& layers, const ToleranceOptions& options, const TrueNumbers& truth) {
  return FormRecogniser(layers, options, truth).recognise();
}

}  // namespace mha::study
