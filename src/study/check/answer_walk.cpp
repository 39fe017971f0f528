// An answer read against a plan, step by step: what was given takes the place of what was computed.
#include "study/check/answer_walk.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <set>

#include "compute/cost.hpp"
#include "compute/engine.hpp"
#include "core/op_rules.hpp"
#include "study/check/comparison.hpp"
#include "study/check/draws.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

constexpr double equal_numbers = 1e-14;  // relative: the person has the recomputed value itself
constexpr double fill_of_half = -65504;  // the smallest 16-bit float, which is added where −∞ belongs
constexpr double fill_digits = 1e-6;     // what −1e9 leaves of a double behind its point

constexpr double as_good_as_1 = 1e-9;  // a sum of decimals
constexpr double half_a_tenth = 0.06;  // nobody writes e^z as a whole number

constexpr double sum_roundings = 32;  // what sums lose, in eps of the largest number beside

// Where nothing is known of the operands: cancelled numbers are as exact as those beside them.
double lost_in_sums(const NumberForm& form, const double* numbers, Index count) {
  if (form.absolute || form.computed_in->bits < of_32_bits.bits) return 0;
  double largest = 0;
  for (Index i = 0; i < count; ++i)
    if (std::isfinite(numbers[i])) largest = std::max(largest, std::abs(numbers[i]));
  return sum_roundings * form.computed_in->arithmetic.eps * largest;
}

std::size_t at_id(ValueId id) {
  return static_cast<std::size_t>(id);
}

class Walk {
 public:
  Walk(const RowPlan& rows, const GivenMatrices& given, const Precision& precision, const Start& start)
      : rows_(rows),
        plan_(rows.plan),
        given_(given),
        precision_(precision),
        start_(start),
        values_(plan_.values.size()),
        steps_(rows),
        drawn_(is_drawn(precision, plan_, given)) {}

  std::optional<Reading> walk(const GoOn& go_on) {
    for (std::size_t id = 0; id < values_.size(); ++id)
      if (plan_.values[id].constant) use(static_cast<ValueId>(id), as_stored(plan_.values[id]));
    if (rows_.loss_gradient && given_.gradient.numbers) use(*rows_.loss_gradient, given_.gradient);
    read_input();
    const bool goes_back = !plan_.steps.empty() && plan_.is_backward(plan_.steps.back());  // and then reads anything again
    for (const Step& step : plan_.steps) {
      const std::optional<StepId>& row = plan_.value(step.out).step;
      if (start_.reading != nullptr && step.id < start_.first && (row || !goes_back)) {
        if (row) take_over(*row, step.out);
        continue;
      }
      Uncertain computed = compute(step);
      if (!row) {
        use(step.out,
            precision_.propagated && plan_.is_backward(step) ? written_down(computed, step) : std::move(computed));
        continue;
      }
      read(*row, step, computed);
      use(step.out, reading_->used);
      if (go_on && !go_on(*row, *reading_)) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  std::optional<StepReading>& at(StepId step) { return result_.steps[static_cast<std::size_t>(step)]; }

  void use(ValueId id, Uncertain value) { values_[at_id(id)] = std::move(value); }

  // What a 16-bit program has of a number of the problem. The factor of the scores may have been rounded: that is another
  // plan, unless nothing behind them shows it.
  Uncertain as_stored(const Value& value) const {
    if (value.symbol == "1/√d_k" && precision_.propagated) {
      const auto d_k = static_cast<Index>(std::lround(std::pow(value.constant->data()[0], -2)));
      const Factors factors = rounded_factors(d_k, precision_.factor_decimals);
      const auto shows = [&](const StepName& name) { return name.step > StepId::scores && given_.heads(name.step) > 0; };
      if (!factors.empty()) return drawn_from(value, factors, std::none_of(step_names.begin(), step_names.end(), shows));
    }
    const Floats& kind = *precision_.between.computed_in;
    if (!precision_.propagated || !kind.arithmetic.by_chance() || value.role == Value::Role::mask)
      return {value.constant, nullptr};
    auto radius = std::make_shared<Tensor>(*value.constant);
    for (Index i = 0; i < radius->size(); ++i) {
      const double number = radius->data()[i];
      radius->data()[i] = std::isfinite(number) ? kind.arithmetic.chance * std::abs(number - kind.nearest(number)) : 0;
    }
    return {value.constant, radius};
  }

  void take_over(StepId row, ValueId id) {
    at(row) = start_.reading->at(row);
    assert(at(row) && at(row)->used.numbers->shape() == plan_.value(id).shape);
    use(id, at(row)->used);
  }

  // X is copied from the problem, not computed.
  void read_input() {
    const ValueId X = *rows_.value(StepId::X);
    if (start_.reading != nullptr) return take_over(StepId::X, X);
    begin(StepId::X, given_.input.numbers ? given_.input : values_[at_id(X)]);
    finish(nullptr);
    use(X, at(StepId::X)->used);
  }

  Uncertain compute(const Step& step) {
    std::vector<Uncertain> operands;
    for (const ValueId id : step.in) operands.push_back(values_[at_id(id)]);
    Uncertain result{steps_.result(step, operands), nullptr};
    FloatingPoint arithmetic = precision_.arithmetic(step.id);
    const std::optional<StepId>& row = plan_.value(step.out).step;
    if (row && given_.heads(*row) > 0 && precision_.between.half_unit() < half_a_tenth)
      arithmetic.on_the_way = precision_.between.half_unit();
    if (precision_.propagated) result.radius = steps_.radius(step, operands, *result.numbers, arithmetic);
    if (drawn_) take_draws(steps_, step, operands, arithmetic, result);
    return result;
  }

  void read(StepId row, const Step& step, const Uncertain& computed) {
    begin(row, computed);
    if (row == StepId::masked) {
      accept_numbers_for_infinity(*values_[at_id(step.in.front())].numbers);
      accept_shifts();
    }
    if (row == StepId::weights && info_of(step.op).shares == Shares::of_one) accept_other_weights(step.in.front());
    finish(&step);
  }

  // Compares what is given with what was computed.
  void begin(StepId row, const Uncertain& computed) {
    reading_ = &at(row).emplace();
    adjusted_.clear();
    const Index heads = std::max(computed.numbers->shape().heads, given_.heads(row));
    matrices_.assign(static_cast<std::size_t>(heads), nullptr);
    for (Index head = 0; head < heads; ++head) matrices_[static_cast<std::size_t>(head)] = given_.find(row, head);
    reading_->expected = {computed.numbers, given_.heads(row) > 0 ? with_writing(row, computed) : nullptr};
    reading_->used = computed;
    reading_->heads.resize(static_cast<std::size_t>(heads));
    for (Index head = 0; head < heads; ++head)
      if (matrix_of(head) != nullptr) likeness(head) = compare(*matrix_of(head), reading_->expected, head);
  }

  const GivenMatrix* matrix_of(Index head) const { return matrices_[static_cast<std::size_t>(head)]; }
  const NumberForm& form_of(Index head) const {
    return matrix_of(head) != nullptr ? matrix_of(head)->form : precision_.between;
  }
  Likeness& likeness(Index head) { return reading_->heads[static_cast<std::size_t>(head)]; }

  // How far a written number may be from the computed one. A weight of 1e−17 is none.
  std::shared_ptr<const Tensor> with_writing(StepId row, const Uncertain& computed) const {
    const double least = row == StepId::weights ? std::numeric_limits<double>::epsilon() : 0;
    auto tolerance = std::make_shared<Tensor>(computed.numbers->shape());
    const Shape& shape = tolerance->shape();
    const Index size = shape.rows * shape.cols;
    for (Index matrix = 0; matrix < shape.batch * shape.heads; ++matrix) {
      const NumberForm& form = form_of(matrix % shape.heads);
      const double lost = precision_.propagated ? 0 : lost_in_sums(form, computed.numbers->data() + matrix * size, size);
      for (Index i = matrix * size; i < (matrix + 1) * size; ++i)
        tolerance->data()[i] = least + lost +
                               form.computed_in->arithmetic.together(computed.radius ? computed.radius->data()[i] : 0,
                                                                     form.written(computed.numbers->data()[i]));
    }
    return tolerance;
  }

  // Where a given matrix of the expected shape has not the expected numbers: read anew after `accept` has put expected
  // numbers into its rows, if it is more like it then. `accept` takes the row's head, item and place, what was given there,
  // what is expected and what to change.
  template <typename Accept>
  bool read_anew(bool work_with_it, Accept accept) {
    const Tensor& expected = *reading_->expected.numbers;
    const Shape& shape = expected.shape();
    bool any = false;
    for (Index head = 0; head < shape.heads; ++head) {
      if (!likeness(head).given || !likeness(head).same_shape || likeness(head).wrong == 0) continue;
      const GivenMatrix& own = *matrix_of(head);
      GivenMatrix accepted = own;
      for (Index item = 0; item < shape.batch; ++item)
        for (Index i = 0; i < shape.rows; ++i)
          accept(head, item, i, own.numbers.matrix(item, 0) + i * shape.cols, expected.matrix(item, head) + i * shape.cols,
                 accepted.numbers.matrix(item, 0) + i * shape.cols);
      const Likeness now = compare(accepted, reading_->expected, head);
      if (now.wrong >= likeness(head).wrong) continue;
      likeness(head) = now;
      if (work_with_it) matrices_[static_cast<std::size_t>(head)] = &read_anew_.emplace_back(std::move(accepted));
      any = true;
    }
    return any;
  }

  // What leaves no weight to a hidden key (−1e9, z − 10000) is −∞ as far as the softmax is concerned: what is expected
  // takes its place. In a row without a key it is held against the scores before the mask.
  void accept_numbers_for_infinity(const Tensor& unmasked) {
    const Shape& shape = reading_->expected.numbers->shape();
    if (!(unmasked.shape() == shape)) return;
    reading_->number_for_infinity =
        read_anew(true, [&](Index head, Index item, Index i, const double* given, const double* right, double* accepted) {
          const double* scores = unmasked.matrix(item, head) + i * shape.cols;
          double largest = minus_infinity;
          for (Index j = 0; j < shape.cols; ++j)
            if (!is_masked_out(right[j], scores[j])) largest = std::max(largest, given[j]);
          if (largest == minus_infinity) largest = *std::max_element(scores, scores + shape.cols);
          for (Index j = 0; j < shape.cols; ++j)
            if (is_masked_out(right[j], scores[j]) && leaves_no_weight(given[j], largest)) accepted[j] = right[j];
        });
  }

  // A constant that was added to each row of a head changes no weight. The steps behind it read the numbers as given.
  void accept_shifts() {
    const Shape& shape = reading_->expected.numbers->shape();
    for (Index head = 0; head < shape.heads; ++head) {
      if (!likeness(head).given || !likeness(head).same_shape || likeness(head).wrong == 0) continue;
      const Tensor& own = matrices_[static_cast<std::size_t>(head)]->numbers;
      RowShifts shifts;
      for (Index item = 0; item < shape.batch; ++item)
        for (Index i = 0; i < shape.rows; ++i) {
          const Index at = i * shape.cols;
          shifts.add(own.matrix(item, 0) + at, reading_->expected.numbers->matrix(item, head) + at,
                     reading_->expected.radius->matrix(item, head) + at, shape.cols);
        }
      if (!shifts.found()) continue;
      likeness(head).wrong = 0;
      likeness(head).squares = likeness(head).misfit = likeness(head).max_difference = 0;
      reading_->shifted_rows = true;
    }
  }

  // Programs give a row of −∞ the weights 0, NaN or 1/m, and one of −1e9 + z what the softmax makes of it. Who wants the
  // sum of rounded weights to be 1 moves one of them by a unit of its last place.
  void accept_other_weights(ValueId of) {
    const Tensor& z = *values_[at_id(of)].numbers;
    const Index cols = z.shape().cols;
    const Step* sum = plan_.writer_of(of);
    const bool is_sum = sum != nullptr && sum->op == Op::add;
    const auto keyless = [&](Index head, Index item, Index i, const double* given, const double* right, double* accepted) {
      if (!is_keyless(z.matrix(item, head) + i * cols, cols)) return;
      const GivenMatrix* masked = given_.find(StepId::masked, head);
      const bool has_masked =
          masked != nullptr && masked->numbers.shape() == given_.find(StepId::weights, head)->numbers.shape();
      const double tolerance = form_of(head).written(1);
      if (are_keyless_weights(given, cols, tolerance) ||
          (has_masked && are_softmax_of(masked->numbers.matrix(item, 0) + i * cols, given, cols, tolerance)) ||
          (is_sum && are_softmax_of_filled(*sum, {item, head, i, 0}, given, tolerance)))
        std::copy_n(right, cols, accepted);
    };
    reading_->other_keyless_rows = read_anew(false, keyless);
    reading_->adjusted_rows =
        read_anew(false, [&](Index head, Index item, Index i, const double* given, const double* right, double* accepted) {
          keyless(head, item, i, given, right, accepted);
          const double unit = 2 * form_of(head).half_unit();
          const double* tolerances = reading_->expected.radius->matrix(item, head) + i * cols;
          const std::optional<Index> moved = moved_weight(given, right, tolerances, cols, unit);
          if (!moved) return;
          accepted[*moved] = right[*moved];
          adjusted_.insert({head, (item * z.shape().rows + i) * cols + *moved});
        });
  }

  // The only one of a row that is wrong, by no more than a unit, where the row as written sums to 1.
  static std::optional<Index> moved_weight(const double* given, const double* right, const double* tolerances, Index count,
                                           double unit) {
    if (!(unit > 0 && unit < 1) || !is_same(std::accumulate(given, given + count, 0.0), 1, as_good_as_1))
      return std::nullopt;
    std::optional<Index> moved;
    for (Index j = 0; j < count; ++j) {
      if (is_same(given[j], right[j], tolerances[j])) continue;
      if (moved || !is_same(given[j], right[j], tolerances[j] + unit)) return std::nullopt;
      moved = j;
    }
    return moved;
  }

  // Beside a large number the scores lose digits.
  bool are_softmax_of_filled(const Step& sum, const Entry& at, const double* weights, double tolerance) const {
    const Shape& shape = plan_.value(sum.out).shape;
    std::vector<double> filled(static_cast<std::size_t>(shape.cols), 0.0), room;
    for (const ValueId id : sum.in) {
      const Tensor& term = *values_[at_id(id)].numbers;
      const double* row = term.row(shape, at.item, at.head, at.row, room);
      for (Index j = 0; j < shape.cols; ++j)
        filled[static_cast<std::size_t>(j)] += std::max(row[term.shape().cols == 1 ? 0 : j], fill_of_half);
    }
    if (const auto& radius = values_[at_id(sum.in.front())].radius) {
      const double* row = radius->matrix(at.item, at.head) + at.row * shape.cols;
      tolerance += *std::max_element(row, row + shape.cols);
    }
    tolerance += fill_digits - fill_of_half * precision_.arithmetic(StepId::weights).eps;
    return are_softmax_of(filled.data(), weights, shape.cols, tolerance);
  }

  // The numbers that the next steps read, and how well they are known. Who has the recomputed number itself has it as
  // exactly as it can be computed; any other number stands for what rounds to it.
  void finish(const Step* step) {
    const Uncertain computed = std::move(reading_->used);
    const Shape& shape = computed.numbers->shape();
    const bool any = std::any_of(matrices_.begin(), matrices_.end(), [](const auto* matrix) { return matrix != nullptr; });
    const auto numbers = any ? std::make_shared<Tensor>(*computed.numbers) : nullptr;
    const auto radius = precision_.propagated ? std::make_shared<Tensor>(shape) : nullptr;
    Draws draws(computed, step == nullptr ? 0 : step->out, precision_.between.cut_off);
    const Index size = shape.rows * shape.cols;
    for (Index i = 0; (any || radius) && i < shape.size(); ++i) {
      const Index head = i / size % shape.heads, in_own = i / (size * shape.heads) * size + i % size;
      const GivenMatrix* own = likeness(head).given && likeness(head).same_shape ? matrix_of(head) : nullptr;
      const double known = computed.radius ? computed.radius->data()[i] : 0, number = computed.numbers->data()[i];
      if (own != nullptr && !own->is_blank(in_own)) {
        const NumberForm& form = own->read_on ? *own->read_on : own->form;
        const double moved = adjusted_.count({head, in_own}) > 0 ? 2 * own->form.half_unit() : 0;
        const double given = numbers->data()[i] = own->numbers.data()[in_own], written = form.written(given) + moved;
        const bool equal = is_same(given, number, equal_numbers * std::max(1.0, std::abs(number))) && known <= written;
        if (radius) radius->data()[i] = equal ? known : written;
        if (drawn_ && !equal) draws.round(i, form.half_unit_at(given) + moved, written, given);
      } else if (radius) {
        radius->data()[i] = radius_between(computed, step, i);
        if (drawn_) draws.round(i, precision_.between.half_unit_at(number), radius->data()[i] - known);
      }
    }
    reading_->used = {any ? numbers : computed.numbers, radius, draws.take()};
  }

  // What is no row of the way back. The row sums r are rounded by everyone; the parts of a sum may be.
  Uncertain written_down(const Uncertain& computed, const Step& step) const {
    const auto radius = std::make_shared<Tensor>(computed.numbers->shape());
    const bool rounded = drawn_ && plan_.value(step.out).gradient == Value::Gradient::row_sums;
    Draws draws(computed, step.out, precision_.between.cut_off);
    for (Index i = 0; i < radius->size(); ++i) {
      radius->data()[i] = radius_between(computed, &step, i);
      const double added = radius->data()[i] - (computed.radius ? computed.radius->data()[i] : 0);
      if (rounded) draws.round(i, precision_.between.half_unit_at(computed.numbers->data()[i]), added);
    }
    return {computed.numbers, radius, draws.take()};
  }

  // A number that was not handed in was rounded as well, unless it was only placed, and was rounded before.
  double radius_between(const Uncertain& computed, const Step* step, Index i) const {
    const double known = computed.radius ? computed.radius->data()[i] : 0, number = computed.numbers->data()[i];
    if (step == nullptr) return known;
    const std::optional<StepId>& read = plan_.value(step->in.front()).step;
    const bool unchanged =
        info_of(step->op).moves || (step->op == Op::add && values_[at_id(step->in.front())].numbers->data()[i] == number);
    if (read && given_.heads(*read) == 0 && unchanged) return known;
    if (read && info_of(step->op).moves) return std::max(known, precision_.between.written(number));
    // What rounds to one number for sure moves no further than there, and with more decimals less far.
    const double half = precision_.between.half_unit();
    const double to_rounded = half > 0 ? std::abs(number - 2 * half * std::round(number / (2 * half))) : 0;
    const double written = precision_.between.written(number);
    return precision_.between.computed_in->arithmetic.together(
        known, !precision_.between.cut_off && to_rounded + known <= half * (1 + equal_numbers) ? written - half + to_rounded
                                                                                               : written);
  }

  const RowPlan& rows_;
  const Plan& plan_;
  const GivenMatrices& given_;
  const Precision& precision_;
  const Start& start_;
  std::vector<Uncertain> values_;  // by ValueId
  StepTaker steps_;
  const bool drawn_;  // in problems for a pencil, where decimals were rounded
  Reading result_;

  StepReading* reading_ = nullptr;            // of the current step
  std::vector<const GivenMatrix*> matrices_;  // by head: what the person meant
  std::list<GivenMatrix> read_anew_;
  std::set<std::pair<Index, Index>> adjusted_;  // head and entry of weights that make a row sum to 1
};

}  // namespace

const Likeness* Reading::given(StepId step, std::size_t head) const {
  if (!at(step) || head >= at(step)->heads.size() || !at(step)->heads[head].given) return nullptr;
  return &at(step)->heads[head];
}

std::optional<Reading> read_answer(const RowPlan& plan, const GivenMatrices& given, const Precision& precision,
                                   const Start& start, const GoOn& go_on) {
  return Walk(plan, given, precision, start).walk(go_on);
}

Likeness likeness_to_truth(const GivenMatrix& given, const std::shared_ptr<const Tensor>& truth, Index head) {
  const auto written = std::make_shared<Tensor>(truth->shape());
  const Shape& shape = written->shape();
  for (Index item = 0; head < shape.heads && item < shape.batch; ++item) {
    const double* numbers = truth->matrix(item, head);
    const double lost = lost_in_sums(given.form, numbers, shape.rows * shape.cols);
    std::transform(numbers, numbers + shape.rows * shape.cols, written->matrix(item, head),
                   [&](double number) { return lost + given.form.written(number); });
  }
  return compare(given, {truth, written}, head);
}

std::optional<Reading> read_as_true(const RowPlan& plan, const GivenMatrices& given, const TruthOf& truth_of) {
  Reading reading;
  for (const StepName& name : row_names) {
    const std::optional<ValueId> id = plan.value(name.step);
    if (!id) continue;
    StepReading& row = reading.steps[static_cast<std::size_t>(name.step)].emplace();
    row.heads.resize(static_cast<std::size_t>(std::max(plan.plan.value(*id).shape.heads, given.heads(name.step))));
    if (given.heads(name.step) == 0) continue;
    const std::shared_ptr<const Tensor> truth = truth_of(name.step);
    for (Index head = 0; head < static_cast<Index>(row.heads.size()); ++head)
      if (const GivenMatrix* matrix = given.find(name.step, head)) {
        Likeness& likeness = row.heads[static_cast<std::size_t>(head)] = likeness_to_truth(*matrix, truth, head);
        if (!likeness.matches()) return std::nullopt;
      }
  }
  return reading;
}

std::shared_ptr<const Tensor> run_to(const RowPlan& plan, StepId step) {
  compute::RunOptions options;
  options.keep.assign(plan.plan.values.size(), false);
  options.keep[at_id(*plan.value(step))] = true;
  return compute::run(plan.plan, options).values[at_id(*plan.value(step))];
}

}  // namespace mha::study
