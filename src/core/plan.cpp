// Multi-head attention, its block and a stack of such, written down: Vaswani et al. 2017, section 3, a line for each step.
#include "core/plan.hpp"

#include <functional>

#include "core/mask.hpp"
#include "core/op_rules.hpp"

namespace mha {
namespace {

using Role = Value::Role;

// Adds values and steps; every step's shape follows from its operands.
class Builder {
 public:
  Plan plan;
  int layer = 0;  // to which all that is added belongs

  // A tensor of the problem, which outlives the plan.
  ValueId given(Role role, std::string symbol, const Tensor& tensor, bool per_head = false) {
    return constant(role, std::move(symbol), {std::shared_ptr<void>(), &tensor}, per_head);
  }

  ValueId owned(Role role, std::string symbol, Tensor tensor, bool per_head = false) {
    return constant(role, std::move(symbol), std::make_shared<const Tensor>(std::move(tensor)), per_head);
  }

  ValueId product(StepId id, ValueId a, ValueId b, bool transposed, std::optional<ValueId> bias = {}) {
    Step step{Op::product, id, {a, b}};
    step.transposed = transposed;
    if (bias) step.in.push_back(*bias);
    return add(std::move(step));
  }

  // X·W + b, with W stored as the layout says.
  ValueId linear(StepId id, ValueId x, const Linear& linear, std::string_view name, const Problem& problem) {
    const bool per_head = id == StepId::Q || id == StepId::K || id == StepId::V;
    const ValueId W = given(Role::weight, "W_" + std::string(name), linear.W, per_head);
    std::optional<ValueId> b;
    if (linear.b) {
      b = given(Role::bias, "b_" + std::string(name), *linear.b, per_head);
      plan.values.back().has_b = linear.has_b;
    }
    return product(id, x, W, problem.layout == Layout::torch, b);
  }

  ValueId split(StepId id, ValueId a, Index heads) { return add({Op::split, id, {a}}, heads); }

  ValueId rotate(StepId id, ValueId a, ValueId cosines, ValueId sines, Pairing pairing) {
    Step step{Op::rotate, id, {a, cosines, sines}};
    step.pairing = pairing;
    return add(std::move(step));
  }

  ValueId softcap(StepId id, ValueId a, double cap) {
    Step step{Op::softcap, id, {a}};
    step.cap = cap;
    return add(std::move(step));
  }

  // `heads`: of a split.
  ValueId add(Step step, Index heads = 0) {
    assert(uses_all_that_is_set(step));
    const StepName& name = name_of(step.id);
    Value value;
    value.symbol = name.symbol;
    value.per_head = name.per_head;
    value.shape = plan.value(step.in.front()).shape;
    if (heads > 0) value.shape.heads = heads;
    value.shape = result_shape(plan, step, value.shape).value();
    value.step = step.id;
    step.layer = layer;
    step.out = append(std::move(value));
    plan.steps.push_back(std::move(step));
    return plan.steps.back().out;
  }

 private:
  ValueId constant(Role role, std::string symbol, std::shared_ptr<const Tensor> tensor, bool per_head) {
    Value value;
    value.role = role;
    value.symbol = std::move(symbol);
    value.per_head = per_head;
    value.shape = tensor->shape();
    value.constant = std::move(tensor);
    return append(std::move(value));
  }

  ValueId append(Value value) {
    value.layer = layer;
    plan.values.push_back(std::move(value));
    return static_cast<ValueId>(plan.values.size()) - 1;
  }
};

// The tables of cos and sin of position·base^(−2t/dims), one row for each position and one column for each pair t.
ValueId rotated(Builder& build, StepId id, ValueId a, const Rope& rope, const std::function<Index(Index)>& position) {
  const Shape shape{1, 1, build.plan.value(a).shape.rows, rope.dims / 2};
  const auto table = [&](double (*function)(double)) {
    return by_rule(shape, [=, base = rope.base, dims = static_cast<double>(rope.dims)](Index row, double* to) {
      for (Index t = 0; t < shape.cols; ++t) {
        const double frequency = std::pow(base, -2.0 * static_cast<double>(t) / dims);
        to[t] = function(static_cast<double>(position(row)) * frequency);
      }
    });
  };
  const auto angles = std::make_shared<const Tensor>(table([](double angle) { return angle; }));
  const auto constant = [&](const char* name, double (*function)(double)) {
    const ValueId own = build.owned(Role::constant, name, table(function));
    build.plan.values[static_cast<std::size_t>(own)].angles = angles;
    return own;
  };
  const ValueId cosines = constant("cos", [](double angle) { return std::cos(angle); });
  const ValueId sines = constant("sin", [](double angle) { return std::sin(angle); });
  return build.rotate(id, a, cosines, sines, rope.pairing);
}

// The number that multiplies the scores, under the name by which people know it.
ValueId scale_constant(Builder& build, const Problem& problem) {
  Tensor factor({1, 1, 1, 1});
  factor.fill(problem.scale_factor());
  const bool usual = problem.scale.kind == Scale::Kind::inverse_root_of_d_k;
  return build.owned(Role::constant, usual ? "1/√d_k" : "scale", std::move(factor));
}

// The scores and all masks in one sum, since a person writes it down as one.
ValueId masked(Builder& build, const Problem& problem, ValueId scores) {
  std::vector<ValueId> terms{scores};
  for (std::size_t i = 0; i < problem.masks.size(); ++i) {
    if (problem.masks[i].kind == Mask::Kind::none) continue;
    Tensor numbers = mask_tensor(problem.masks[i], problem);
    const bool per_head = numbers.shape().heads > 1;
    terms.push_back(build.owned(Role::mask, std::string(mask_name(problem.masks[i].kind)), std::move(numbers), per_head));
    build.plan.values.back().mask = static_cast<int>(i);
  }
  return terms.size() == 1 ? scores : build.add({Op::add, StepId::masked, std::move(terms)});
}

// γ and β are named as the norm is: N = norm(x), N′ by γ′ and β′. A β without a γ gets a γ of ones.
ValueId normalised(Builder& build, StepId id, ValueId x, const NormRule& norm) {
  Step step{Op::norm, id, {x}};
  step.norm = norm.rule;
  const std::string mark(name_of(id).symbol.substr(1));
  if (norm.gamma) step.in.push_back(build.given(Role::bias, "γ" + mark, *norm.gamma));
  if (norm.beta && !norm.gamma) {
    Tensor ones(norm.beta->shape());
    ones.fill(1);
    step.in.push_back(build.owned(Role::constant, "γ" + mark, std::move(ones)));
  }
  if (norm.beta) step.in.push_back(build.given(Role::bias, "β" + mark, *norm.beta));
  return build.add(std::move(step));
}

// MultiHead(x, x_kv) = Concat(head⁽¹⁾, …, head⁽ʰ⁾)·W_O.
ValueId attention(Builder& build, const Problem& problem, ValueId x, ValueId x_kv) {
  // Projections: Q⁽ⁱ⁾ = X·W_Q⁽ⁱ⁾, K⁽ⁱ⁾ = X·W_K⁽ⁱ⁾, V⁽ⁱ⁾ = X·W_V⁽ⁱ⁾; packed: all heads in one product, then cut apart.
  ValueId Q, K, V;
  if (problem.packed) {
    const ValueId all_Q = build.linear(StepId::packed_Q, x, problem.Q, "Q", problem);
    const ValueId all_K = build.linear(StepId::packed_K, x_kv, problem.K, "K", problem);
    const ValueId all_V = build.linear(StepId::packed_V, x_kv, problem.V, "V", problem);
    Q = build.split(StepId::Q, all_Q, problem.heads);
    K = build.split(StepId::K, all_K, problem.kv_heads);
    V = build.split(StepId::V, all_V, problem.kv_heads);
  } else {
    Q = build.linear(StepId::Q, x, problem.Q, "Q", problem);
    K = build.linear(StepId::K, x_kv, problem.K, "K", problem);
    V = build.linear(StepId::V, x_kv, problem.V, "V", problem);
  }
  if (problem.rope) {
    const auto rope = std::make_shared<const Rope>(*problem.rope);  // the tables ask it long after
    const bool cross = problem.X_kv.has_value();
    Q = rotated(build, StepId::Q_rot, Q, *rope, [rope](Index i) { return rope->query_position(i); });
    K = rotated(build, StepId::K_rot, K, *rope, [rope, cross](Index j) { return rope->key_position(j, cross); });
  }

  // Attention(Q, K, V) = softmax(Q·Kᵀ / √d_k)·V, in each head.
  ValueId scores = build.product(StepId::scores, Q, K, true);
  if (problem.scale.kind != Scale::Kind::none)
    scores = build.add({Op::multiply, StepId::scaled, {scores, scale_constant(build, problem)}});
  if (problem.softcap) scores = build.softcap(StepId::capped, scores, *problem.softcap);
  scores = masked(build, problem, scores);
  const ValueId A = build.add({Op::softmax, StepId::weights, {scores}});
  const ValueId head = build.product(StepId::head_output, A, V, false);

  const ValueId concat = build.add({Op::merge, StepId::concat, {head}});
  return problem.output_is_concat ? build.add({Op::copy, StepId::output, {concat}})
                                  : build.linear(StepId::output, concat, problem.O, "O", problem);
}

// MLP(x) = act(x·W_1 + b_1)·W_2 + b_2, with a gate (act(x·W_gate + b_gate) ∘ (x·W_1 + b_1))·W_2 + b_2.
ValueId mlp(Builder& build, const Problem& problem, ValueId x) {
  const Mlp& mlp = *problem.mlp;
  Step act{Op::activation, StepId::activated, {}};
  act.activation = mlp.activation;
  if (mlp.gate) act.in.push_back(build.linear(StepId::gate, x, *mlp.gate, "gate", problem));
  act.in.push_back(build.linear(StepId::hidden, x, mlp.first, "1", problem));
  return build.linear(StepId::mlp, build.add(std::move(act)), mlp.second, "2", problem);
}

// A sublayer with its norm and its residual. Pre (Xiong et al. 2020): x + f(norm(x)); post (Vaswani et al. 2017):
// norm(x + f(x)); the residual and the norm only where the problem has them.
struct Sublayer {
  const std::optional<NormRule>& norm;
  StepId norm_id, residual_id;
};

template <typename Inner>
ValueId wrapped(Builder& build, const Problem& problem, const Sublayer& rule, ValueId x, Inner inner) {
  const bool pre = rule.norm && !problem.is_post_norm();
  ValueId y = inner(pre ? normalised(build, rule.norm_id, x, *rule.norm) : x);
  if (problem.residual) y = build.add({Op::add, rule.residual_id, {x, y}});
  return rule.norm && !pre ? normalised(build, placed(rule.norm_id, true), y, *rule.norm) : y;
}

// What one layer makes of x: the attention, and behind it the MLP where it has one.
ValueId layer(Builder& build, const Problem& problem, ValueId x) {
  x = wrapped(build, problem, {problem.norm, StepId::norm, StepId::residual}, x, [&](ValueId reads) {
    return attention(build, problem, reads, problem.X_kv ? build.given(Role::input, "X_kv", *problem.X_kv) : reads);
  });
  if (!problem.mlp) return x;
  return wrapped(build, problem, {problem.mlp_norm, StepId::mlp_norm, StepId::mlp_residual}, x,
                 [&](ValueId reads) { return mlp(build, problem, reads); });
}

}  // namespace

std::optional<ValueId> Plan::find(StepId step, int layer) const {
  for (std::size_t id = 0; id < values.size(); ++id)
    if (values[id].step == step && (values[id].layer == layer || is_of_no_layer(step))) return static_cast<ValueId>(id);
  return std::nullopt;
}

std::optional<ValueId> Plan::gradient(ValueId of) const {
  for (std::size_t id = 0; id < values.size(); ++id)
    if (values[id].of == of && values[id].gradient == Value::Gradient::whole) return static_cast<ValueId>(id);
  return std::nullopt;
}

ValueId Plan::forward_result() const {
  return std::find_if(steps.rbegin(), steps.rend(), [this](const Step& step) { return !is_backward(step); })->out;
}

const Step* Plan::writer_of(ValueId id) const {
  const auto writer = std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.out == id; });
  return writer == steps.end() ? nullptr : &*writer;
}

Plan make_plan(const Problem& problem) {
  Builder build;
  ValueId x = build.given(Role::input, "X", problem.X);
  build.plan.values.back().step = StepId::X;
  for (int i = 0; i < problem.layer_count(); ++i) {
    build.layer = i;
    x = layer(build, problem.layer(i), x);
  }
  if (problem.final_norm) normalised(build, StepId::final_norm, x, *problem.final_norm);
  return std::move(build.plan);
}

}  // namespace mha
