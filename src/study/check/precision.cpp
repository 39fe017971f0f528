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
        matrices_.push_back({layer, step, head, matrix, same ? numbers : nullptr});
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
    std::size_t layer;
    StepId step;
    Index head;
    GivenMatrix& matrix;
    const Tensor* truth;  // null: unknown, or of another shape

    NumberForm& form() { return matrix.form; }

    // Of each entry that was filled in and its true number; never where that is unknown.
    template <typename Holds>
    bool all_true(Holds holds) const {
      if (truth == nullptr) return false;
      const Shape& own = matrix.numbers.shape();
      for (Index item = 0, i = 0; item < own.batch; ++item)
        for (Index at = 0; at < own.rows * own.cols; ++at, ++i)
          if (!matrix.is_blank(i) && !holds(matrix.numbers.data()[i], truth->matrix(item, head)[at])) return false;
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
      return all_true([unit](double, double number) {
        const double units = number / unit;
        return !std::isfinite(number) ||
               std::abs(units - std::round(units)) <= as_good_as_whole * std::max(1.0, std::abs(units));
      });
    }

    bool is_true_to(int decimals) const {
      const double most = half_unit(decimals) * (1 + as_good_as_whole);
      return all_true([most](double own, double number) { return own == number || std::abs(own - number) <= most; });
    }

    // Programs leave out the zeros at the end: 1.0 may be 1.0000. Numbers that are whole however they are rounded, as where
    // the softmax chooses one key, or halves, or a row's equal weights, do not say how many decimals they have.
    bool shows_decimals() const {
      return any_is_part([&](double number) { return step == StepId::weights && number != 0 ? 1 / number : 2 * number; });
    }
    bool is_whole() const {
      return !any_is_part([](double number) { return number; });
    }

    template <typename Multiple>
    bool any_is_part(Multiple multiple) const {
      const Tensor& numbers = matrix.numbers;
      return std::any_of(numbers.data(), numbers.data() + numbers.size(), [&](double number) {
        const double units = multiple(number);
        return std::abs(units - std::round(units)) > as_good_as_whole;
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

  // The numbers of later steps are the true ones, each as it is written.
  bool is_true_behind(const Placed& one) const {
    return std::all_of(matrices_.begin(), matrices_.end(), [&](const Placed& other) {
      return std::pair(other.layer, other.step) <= std::pair(one.layer, one.step) ||
             other.is_true_to(other.matrix.writing.decimals);
    });
  }

  // Whole numbers, and weights that are 1 and 0, have as few as are written, if with these they are right and nothing
  // behind them can be right for that alone; else as many as the step's other heads, or as the others.
  int decimals_of(const Placed& one, int finest) const {
    const int own = one.matrix.writing.decimals;
    if (!one.is_whole() || (own > 0 && one.step != StepId::weights)) return own;
    if (one.is_true_to(own) && is_true_behind(one)) return own;
    int of_heads = -1;
    for (const Placed& other : matrices_)
      if (other.layer == one.layer && other.step == one.step && other.shows_decimals())
        of_heads = std::max(of_heads, other.matrix.writing.decimals);
    return of_heads < 0 ? finest : std::max(own, of_heads);
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
      const bool is_exact = one.is_exact_as_written() || one.is_true_to(finest);
      form.decimals = is_exact ? finest : decimals_of(one, finest);
      if (is_exact || !one.shows_decimals()) {
        one.matrix.read_on = form;
        one.matrix.read_on->decimals = finest;
        continue;
      }
      at_least(decimals, form.decimals);
      if (one.step == StepId::scaled) precision_.factor_decimals.insert(form.decimals);
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
