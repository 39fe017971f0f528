// Walks a plan backwards: for each op the steps of its vector–Jacobian product (Griewank, Walther 2008, section 3.2).
#include "core/gradient.hpp"

#include "core/op_rules.hpp"

namespace mha {
namespace {

using Gradient = Value::Gradient;

// 1 at each row's index.
Tensor one_hot(const Tensor& indices, const Shape& shape) {
  Tensor result(shape);
  result.fill(0);
  for (Index item = 0; item < shape.batch; ++item)
    for (Index row = 0; row < shape.rows; ++row)
      result.at(item, 0, row, static_cast<Index>(indices.at(item, 0, 0, row))) = 1;
  return result;
}

// Rows of 1, which stand nowhere.
class Ones : public Stored {
 public:
  explicit Ones(Index cols) : cols_(cols) {}
  void read_rows(Index, Index count, double* to) const override { std::fill_n(to, count * cols_, 1.0); }
  void read_rows(Index, Index count, float* to) const override { std::fill_n(to, count * cols_, 1.0F); }

 private:
  Index cols_;
};

class Backward {
 public:
  explicit Backward(Plan forward)
      : plan_(std::move(forward)), reads_(plan_.values.size()), parts_(reads_.size()), whole_(reads_.size()) {}

  // Nothing where shapes do not fit.
  std::optional<Plan> walk(const Loss& loss) {
    const std::size_t forward_steps = plan_.steps.size();
    for (std::size_t i = forward_steps; i-- > 0;)  // of what leads to the result
      if (const Step& step = plan_.steps[i]; i + 1 == forward_steps || reads_[at(step.out)] > 0)
        for (const ValueId id : step.in) ++reads_[at(id)];
    start(loss);
    for (std::size_t i = forward_steps; i-- > 0;) {
      through_ = plan_.steps[i];
      if (const std::optional<ValueId> g = whole_[at(through_.out)]) back(through_, *g);
    }
    return fits_ ? std::optional(std::move(plan_)) : std::nullopt;
  }

 private:
  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id); }
  const Shape& shape_of(ValueId id) const { return plan_.value(id).shape; }

  bool is_wanted(ValueId id) const {
    const Value::Role role = plan_.value(id).role;
    return role != Value::Role::constant && role != Value::Role::mask;
  }

  ValueId constant(std::string symbol, std::shared_ptr<const Tensor> numbers) {
    Value value;
    value.role = Value::Role::constant;
    value.symbol = std::move(symbol);
    value.shape = numbers->shape();
    value.layer = through_.layer;
    value.constant = std::move(numbers);
    plan_.values.push_back(std::move(value));
    return static_cast<ValueId>(plan_.values.size()) - 1;
  }
  ValueId constant(std::string symbol, double number) {
    Tensor numbers({1, 1, 1, 1});
    numbers.fill(number);
    return constant(std::move(symbol), std::make_shared<const Tensor>(std::move(numbers)));
  }

  Shape shape_of_result(const Step& step, const Shape& wanted) {
    const std::optional<Shape> shape = result_shape(plan_, step, wanted);
    fits_ = fits_ && shape;
    return shape.value_or(wanted);
  }

  // A step of the backward pass. A part is named after what it comes through: dX_Q.
  ValueId append(Step step, ValueId of, const Shape& wanted, Gradient gradient, const std::string& symbol = {}) {
    assert(uses_all_that_is_set(step));
    const Value& forward = plan_.value(of);
    Value value;
    value.shape = shape_of_result(step, wanted);
    value.gradient = gradient;
    value.of = of;
    value.symbol = symbol.empty() ? "d" + forward.symbol : symbol;
    if (gradient == Gradient::part && symbol.empty() && (forward.step || forward.role == Value::Role::input))
      value.symbol += "_" + plan_.value(through_.out).symbol;
    value.per_head = forward.per_head || value.shape.heads > forward.shape.heads;
    value.layer = gradient == Gradient::whole ? forward.layer : through_.layer;
    step.id = through_.id;
    step.layer = through_.layer;
    step.out = static_cast<ValueId>(plan_.values.size());
    plan_.values.push_back(std::move(value));
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().out;
  }

  // What `of` gets through this step, summed over the heads and items that share it.
  void give(ValueId of, Step step) {
    if (!is_wanted(of)) return;
    const Shape shape = shape_of(of);
    const Gradient gradient = reads_[at(of)] == 1 ? Gradient::whole : Gradient::part;
    if (shape_of_result(step, shape) == shape) return arrive(of, append(std::move(step), of, shape, gradient));
    const ValueId all = append(std::move(step), of, shape, Gradient::part);
    arrive(of, append({Op::sum, {}, {all}}, of, shape, gradient));
  }

  // The parts of a sum stand in the order of the forward steps.
  void arrive(ValueId of, ValueId part) {
    std::vector<ValueId>& parts = parts_[at(of)];
    parts.insert(parts.begin(), part);
    if (static_cast<int>(parts.size()) < reads_[at(of)]) return;
    whole_[at(of)] = parts.size() == 1 ? part : append({Op::add, {}, parts}, of, shape_of(of), Gradient::whole);
  }

  // As it is, where shapes are the same: without a step of its own if others are added to it.
  void pass_on(ValueId of, ValueId g) {
    if (!is_wanted(of)) return;
    if (!(shape_of(of) == shape_of(g))) return give(of, {Op::sum, {}, {g}});
    if (reads_[at(of)] > 1) return arrive(of, g);
    give(of, {Op::copy, {}, {g}});
  }

  // dL/dP of the result P.
  void start(const Loss& loss) {
    through_ = plan_.steps.back();
    const ValueId P = through_.out;
    const Shape shape = shape_of(P);
    reads_[at(P)] = 1;
    const std::shared_ptr<const Tensor> target{std::shared_ptr<void>(), &loss.target};
    const auto count = [&](Index n) { return 1 / static_cast<double>(n); };
    switch (loss.kind) {
      case Loss::Kind::sum:
        return give(P,
                    {Op::copy, {}, {constant("1", std::make_shared<Tensor>(shape, std::make_shared<Ones>(shape.cols)))}});
      case Loss::Kind::gradient: return give(P, {Op::copy, {}, {constant("G", target)}});
      case Loss::Kind::half_squares: return give(P, {Op::difference, {}, {P, constant("T", target)}});
      case Loss::Kind::mse: {
        const ValueId T = constant("T", target);
        const ValueId mean = constant(fmt::format("2/{}", shape.size()), 2 * count(shape.size()));
        return give(P, {Op::difference, {}, {P, T, mean}});
      }
      case Loss::Kind::cross_entropy: {
        const Index rows = shape.batch * shape.rows;
        const ValueId p = append({Op::softmax, {}, {P}}, P, shape, Gradient::part, "p");
        const ValueId hot = constant("T", std::make_shared<const Tensor>(one_hot(loss.target, shape)));
        return give(P, {Op::difference, {}, {p, hot, constant(fmt::format("1/{}", rows), count(rows))}});
      }
    }
  }

  void back(const Step& step, ValueId g) {
    const ValueId a = step.in[0];
    switch (step.op) {
      case Op::product: return back_product(step, g);
      case Op::softmax: {  // dz = A ∘ (dA − r), r the row sums of A ∘ dA
        Shape rows = shape_of(step.out);
        rows.cols = 1;
        const ValueId r = append({Op::sum, {}, {step.out, g}}, a, rows, Gradient::row_sums, "r");
        return give(a, {Op::difference, {}, {g, r, step.out}});
      }
      case Op::norm: return back_norm(step, g);
      case Op::activation: {
        Step slope{Op::slope, {}, {g, a}};
        if (step.in.size() > 1) slope.in.push_back(step.in[1]);
        slope.activation = step.activation;
        give(a, slope);
        if (step.in.size() == 1) return;
        Step gate{Op::activation, {}, {a, g}};
        gate.activation = step.activation;
        return give(step.in[1], gate);
      }
      case Op::softcap: {
        Step slope{Op::slope, {}, {g, a}};
        slope.cap = step.cap;
        return give(a, slope);
      }
      case Op::split:
      case Op::merge: {
        Step moved{step.op == Op::split ? Op::merge : Op::split, {}, {g}};
        moved.arrangement = step.arrangement;
        return give(a, moved);
      }
      case Op::rotate: {
        Step turned = step;
        turned.in[0] = g;
        turned.transposed = !step.transposed;
        return give(a, turned);
      }
      case Op::multiply: return give(a, {Op::multiply, {}, {g, step.in[1]}});  // by a constant
      case Op::add:
      case Op::copy:
        for (const ValueId term : step.in) pass_on(term, g);
        return;
      case Op::difference:
      case Op::slope:
      case Op::norm_slope:
      case Op::sum:
      case Op::reshape:
      case Op::pool: assert(false);  // in no forward plan
    }
  }

  // c = a·b: da = dc·bᵀ, db = aᵀ·dc, or dcᵀ·a where b is used transposed; a bias has the sum over the rows.
  void back_product(const Step& step, ValueId g) {
    assert(!step.first_transposed);
    const ValueId a = step.in[0], b = step.in[1];
    Step left{Op::product, {}, {g, b}}, right{Op::product, {}, {a, g}};
    left.transposed = !step.transposed;
    if (step.transposed) right.in = {g, a};
    right.first_transposed = true;
    give(a, left);
    give(b, right);
    for (std::size_t i = 2; i < step.in.size(); ++i) give(step.in[i], {Op::sum, {}, {g}});
  }

  // y = x̂ ∘ γ + β: dγ = Σ dy ∘ x̂ over the rows, dβ = Σ dy.
  void back_norm(const Step& step, ValueId g) {
    const ValueId x = step.in[0];
    Step slope{Op::norm_slope, {}, {g, x}};
    slope.norm = step.norm;
    if (step.in.size() > 1) slope.in.push_back(step.in[1]);
    give(x, slope);
    if (step.in.size() > 1 && is_wanted(step.in[1])) {
      Step bare{Op::norm, {}, {x}};
      bare.norm = step.norm;
      const ValueId normed = append(bare, step.in[1], shape_of(x), Gradient::part, "x̂");
      give(step.in[1], {Op::sum, {}, {g, normed}});
    }
    if (step.in.size() > 2) give(step.in[2], {Op::sum, {}, {g}});
  }

  Plan plan_;
  bool fits_ = true;
  Step through_{};  // the forward step at hand
  // By ValueId of the forward plan: how many steps read it, what came back through them so far, and all of it.
  std::vector<int> reads_;
  std::vector<std::vector<ValueId>> parts_;
  std::vector<std::optional<ValueId>> whole_;
};

}  // namespace

namespace {

// Whether the steps of a plan can be walked backwards; those of mistakes may not.
bool has_gradient(const Plan& plan, const Loss& loss) {
  const Shape& result = plan.value(plan.forward_result()).shape;
  if (loss.kind == Loss::Kind::cross_entropy) {
    const double* const indices = std::as_const(loss.target).data();
    const double largest = *std::max_element(indices, indices + loss.target.size());
    if (loss.target.shape().cols != result.rows || largest >= static_cast<double>(result.cols)) return false;
  }
  return std::all_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    const Norm& norm = step.norm;
    const bool usual_norm = !norm.sample_variance && !norm.eps_outside && !norm.by_column;
    const bool usual = step.softmax.over == Softmax::Over::row && step.softmax.power == Softmax::Power::e && usual_norm;
    return step.op != Op::reshape && step.op != Op::pool && !step.first_transposed && usual;
  });
}

}  // namespace

std::optional<Plan> with_gradient_if_any(Plan forward, const Loss& loss) {
  return has_gradient(forward, loss) ? Backward(std::move(forward)).walk(loss) : std::nullopt;
}

Plan with_gradient(Plan forward, const Loss& loss) {
  return Backward(std::move(forward)).walk(loss).value();
}

Plan plan_with_gradient(const Problem& problem) {
  return problem.loss ? with_gradient(make_plan(problem), *problem.loss) : make_plan(problem);
}

std::optional<StepId> row_of_gradient(const Plan& plan, const Value& gradient) {
  if (gradient.gradient != Gradient::whole) return std::nullopt;
  const Value& of = plan.value(gradient.of);
  if (of.step) return gradient_of(*of.step);
  for (const StepName& name : row_names)
    if (is_gradient(name.step) && !name.of && name.symbol == "d" + of.symbol && name.per_head == of.per_head)
      return name.step;
  return std::nullopt;
}

std::optional<double> loss_of(const Loss& loss, const Tensor& result) {
  const Shape& shape = result.shape();
  double sum = 0;
  for_each_entry(shape, [&](const Entry& entry) {
    const double p = result.at(entry);
    switch (loss.kind) {
      case Loss::Kind::sum: sum += p; return;
      case Loss::Kind::mse:
      case Loss::Kind::half_squares: sum += (p - loss.target.at(entry)) * (p - loss.target.at(entry)); return;
      case Loss::Kind::cross_entropy: {  // log Σ e^P − P[index], the row's largest subtracted first
        if (entry.column > 0) return;
        const double* const row = result.matrix(entry.item, entry.head) + entry.row * shape.cols;
        const double largest = *std::max_element(row, row + shape.cols);
        double powers = 0;
        for (Index j = 0; j < shape.cols; ++j) powers += std::exp(row[j] - largest);
        sum += std::log(powers) + largest - row[static_cast<Index>(loss.target.at(entry.item, 0, 0, entry.row))];
        return;
      }
      case Loss::Kind::gradient: return;
    }
  });
  switch (loss.kind) {
    case Loss::Kind::sum: return sum;
    case Loss::Kind::mse: return sum / static_cast<double>(shape.size());
    case Loss::Kind::half_squares: return sum / 2;
    case Loss::Kind::cross_entropy: return sum / static_cast<double>(shape.batch * shape.rows);
    case Loss::Kind::gradient: return std::nullopt;
  }
  return std::nullopt;
}

Problem gradients_of_parameters(const Problem& problem, const Plan& plan, const Trace& trace) {
  return with_parameters(problem, plan, [&](const Tensor& own, ValueId id) {
    const std::optional<ValueId> gradient = plan.gradient(id);
    const Tensor* const numbers = gradient ? trace.value(*gradient) : nullptr;
    return numbers != nullptr ? *numbers : own;
  });
}

}  // namespace mha
