// Error bounds after Higham, Accuracy and Stability of Numerical Algorithms (2002): sums and products by sections 3.1
// and 3.5, the softmax by the relative errors of its parts (section 3.4; Blanchard, Higham, Higham 2021). An eps counts
// where half of it would do: the other half is for the reference, which errs as much where the other computes in float64 as
// well, and for terms of second order.
#include "study/check/exactness.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compute/engine.hpp"
#include "core/op_rules.hpp"

namespace mha::study {
namespace {

constexpr double anything = 1e100;

// Infinite entries and NaN are exact: they have no size.
double size_of(double number) {
  return std::isfinite(number) ? std::abs(number) : 0;
}

// Half away from zero, of decimals that a double has nearly.
double rounded_to(double unit, double number) {
  constexpr double nearly = 1e-9;
  return unit * std::round(number / unit + std::copysign(nearly, number));
}

double radius_at(const Uncertain& value, const Entry& at) {
  return value.radius ? value.radius->at(at) : 0;
}

// What an entry moves by, and what rounding adds. No finite number is near an infinite one.
double bound_of(double moved, double size, double roundings, double terms, double result, const FloatingPoint& arithmetic) {
  if (std::isinf(result)) return 0;
  if (size > arithmetic.greatest) return std::numeric_limits<double>::infinity();
  if (arithmetic.by_chance()) roundings = arithmetic.chance * std::sqrt(roundings);
  return arithmetic.together(moved, roundings * arithmetic.eps * size + terms * arithmetic.least);
}

// Whether the terms of the step's sums are weighted by what a softmax gave.
bool is_mean(const Plan& plan, const Step& step) {
  const Step* weights = step.op == Op::product ? plan.writer_of(step.in.front()) : nullptr;
  return weights != nullptr && info_of(weights->op).shares != Shares::none;
}

// Of how many tokens, at most, the values are the same, as alike tokens have them: these were rounded alike.
double alike_rows(const Tensor& values) {
  const Shape& shape = values.shape();
  int most = 1;
  for (Index matrix = 0; matrix < shape.batch * shape.heads; ++matrix) {
    std::map<std::vector<double>, int> rows;
    for (Index row = 0; row < shape.rows; ++row) {
      const double* numbers = values.data() + (matrix * shape.rows + row) * shape.cols;
      most = std::max(most, ++rows[{numbers, numbers + shape.cols}]);
    }
  }
  return most;
}

// What a program in floats has a cosine or sine wrong by: its angle is rounded before, and its frequency, base^(−2t/dims),
// as often as its logarithm is large. Angles are computed in float32 at least.
double off_by_angle(const Plan& plan, const Step& step, const Read& read, const FloatingPoint& arithmetic) {
  constexpr double angle_roundings = 8;
  const std::shared_ptr<const Tensor>& angles = plan.value(step.in[read.operand]).angles;
  const double eps = std::min<double>(arithmetic.eps, std::numeric_limits<float>::epsilon());
  return read.operand > 0 && angles ? angle_roundings * eps * std::abs(angles->at(read.at)) : 0;
}

// As radius_of_terms, term by term: on the sizes the step itself would take away what must be added.
Tensor radius_of_rotation(const Plan& plan, const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                          const FloatingPoint& arithmetic) {
  Tensor radius(result.shape());
  for_each_entry(result.shape(), [&](const Entry& entry) {
    double sizes = 0, reaches = 0, terms = 0;
    for_each_term(plan, step, entry, [&](const Term& term) {
      double size = 1, reach = 1;
      for (const Read& read : term) {
        const Entry& at = read.at;
        const double number = size_of(operands[read.operand].numbers->at(at));
        size *= number;
        reach *= number + radius_at(operands[read.operand], at) + off_by_angle(plan, step, read, arithmetic);
      }
      sizes += size;
      reaches += reach;
      ++terms;
    });
    const double roundings = terms == 1 ? 0 : terms;  // the columns behind the last pair only move
    radius.at(entry) = bound_of(reaches - sizes, sizes, roundings, roundings, 0, arithmetic);
  });
  return radius;
}

// tanh is steepest where its argument is nearest to 0.
Tensor radius_of_softcap(double cap, const Uncertain& a, const Tensor& result, const FloatingPoint& arithmetic) {
  Tensor radius(result.shape());
  for (Index i = 0; i < radius.size(); ++i) {
    const double off = a.radius ? a.radius->data()[i] : 0;
    const double steepest = std::tanh(std::max(0.0, size_of(a.numbers->data()[i]) - off) / cap);
    const double value = result.data()[i];
    radius.data()[i] =
        bound_of(off * (1 - steepest * steepest), size_of(value), arithmetic.function_roundings, 1, value, arithmetic);
  }
  return radius;
}

// What a product of two uncertain numbers moves by.
double moved_product(double a, double a_radius, double b, double b_radius) {
  return (a + a_radius) * (b + b_radius) - a * b;
}

// No activation is steeper than 1.13 (gelu near √2). OpenCL 1.2, section 7.4: erfc errs by 16 units in the last place, tanh
// by 5; 1 + erf, as other programs have it, by one of the argument.
Tensor radius_of_activation(const Plan& plan, const Step& step, const std::vector<Uncertain>& operands,
                            const Tensor& result, const FloatingPoint& arithmetic) {
  constexpr double steepest = 1.13, activation_roundings = 20;
  Tensor radius(result.shape());
  for_each_entry(result.shape(), [&](const Entry& entry) {
    for_each_term(plan, step, entry, [&](const Term& term) {
      const auto number = [&](const Read& read) { return size_of(operands[read.operand].numbers->at(read.at)); };
      const Read& x = *term.begin();
      double size = number(x), off = steepest * radius_at(operands[x.operand], x.at);
      const double roundings =
          step.activation == Activation::none || step.activation == Activation::relu ? 0 : activation_roundings;
      off = bound_of(off, size, roundings, 1, 0, arithmetic);
      if (term.count > 1) {
        const Read& gate = *(term.begin() + 1);
        off = moved_product(size, off, number(gate), radius_at(operands[gate.operand], gate.at));
        size *= number(gate);
      }
      radius.at(entry) = bound_of(off, size, term.count > 1 ? 1 : 0, 1, 0, arithmetic);
    });
  });
  return radius;
}

// y = (x − mean)/root ∘ γ + β. The mean moves by the mean of what its numbers move, and a root of mean squares by no more
// than the root of the mean square of that; it is never less than √eps.
Tensor radius_of_norm(const Plan& plan, const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                      const FloatingPoint& arithmetic) {
  Tensor radius(result.shape());
  for_each_entry(result.shape(), [&](const Entry& entry) {
    std::vector<double> numbers, off;
    std::vector<std::pair<double, double>> parameters;  // γ and β with their radii
    for_each_term(plan, step, entry, [&](const Term& term) {
      const Read& read = *term.begin();
      const Entry& at = read.at;
      const double number = operands[read.operand].numbers->at(at);
      if (read.operand > 0) return parameters.emplace_back(std::abs(number), radius_at(operands[read.operand], at)), void();
      numbers.push_back(number);
      off.push_back(radius_at(operands[0], at));
    });
    const auto count = static_cast<double>(numbers.size());
    const auto mean_of = [&](const std::vector<double>& all, auto of) {
      double sum = 0;
      for (const double x : all) sum += of(x);
      return sum / count;
    };
    const bool is_layer = step.norm.kind == Norm::Kind::layer;
    const double mean = is_layer ? mean_of(numbers, [](double x) { return x; }) : 0;
    const double mean_size = is_layer ? mean_of(numbers, [](double x) { return std::abs(x); }) : 0;
    const double mean_off =
        is_layer ? bound_of(mean_of(off, [](double r) { return r; }), mean_size, count, count, 0, arithmetic) : 0;
    for (std::size_t i = 0; i < off.size(); ++i)
      off[i] = bound_of(off[i] + mean_off, std::abs(numbers[i]) + std::abs(mean), 1, 1, 0, arithmetic);
    const double squares = mean_of(numbers, [&](double x) { return (x - mean) * (x - mean); });
    const double least = std::sqrt(step.norm.eps), root = std::sqrt(squares + step.norm.eps);
    const double root_off =
        bound_of(std::sqrt(mean_of(off, [](double r) { return r * r; })), root, count + 4, 1, 0, arithmetic);
    const double smallest = std::max(root - root_off, least);
    const Index own = step.norm.by_column ? entry.row : entry.column;
    const double distance = std::abs(numbers[static_cast<std::size_t>(own)] - mean);
    double size = distance / root;
    double moved = smallest > 0 ? off[static_cast<std::size_t>(own)] / smallest + distance * root_off / (root * smallest)
                                : std::numeric_limits<double>::infinity();
    if (const double unit = 2 * arithmetic.on_the_way; unit > 0) {  // its mean, its variance and its root are written down
      const double written_mean = is_layer ? rounded_to(unit, mean) : 0;
      const double variance = mean_of(numbers, [&](double x) { return (x - written_mean) * (x - written_mean); });
      const double written_variance = rounded_to(unit, variance), own_number = numbers[static_cast<std::size_t>(own)];
      const double exact_root = std::sqrt(variance + step.norm.eps),
                   other_root = std::sqrt(written_variance + step.norm.eps);
      double off_when_written = 0;
      for (const double by : {exact_root, other_root, rounded_to(unit, other_root)})
        if (by > unit)
          off_when_written = std::max(off_when_written, std::abs(std::abs(own_number - written_mean) / by - size));
      moved += off_when_written;
    }
    if (!parameters.empty()) {
      moved = moved_product(size, moved, parameters[0].first, parameters[0].second);
      size *= parameters[0].first;
    }
    if (parameters.size() > 1) {
      moved += parameters[1].second;
      size += parameters[1].first;
    }
    radius.at(entry) = bound_of(moved, size, 3, 2, result.at(entry), arithmetic);
  });
  return radius;
}

// An entry of those that are normalised together.
struct Share {
  double z, z_radius;
  double weight;  // what it has of the sum
  double radius = 0;
  double written = 0;  // how far it is from what comes of powers that were rounded when they were written down
};

double raised(const Softmax& rule, double z) {
  return rule.power == Softmax::Power::two ? std::exp2(z) : std::exp(z);
}

// How far p(z) / Σ p(z) moves at most while all z move within their radii: it is largest where its own z is as large as it
// may be and all others are as small.
void move_powers(std::vector<Share>& shares, const Softmax& rule) {
  double shift = -std::numeric_limits<double>::infinity(), least = shift;
  for (const Share& share : shares) {
    shift = std::max(shift, share.z + share.z_radius);
    least = std::max(least, share.z - share.z_radius);
  }
  // What stands in the denominator beside the powers; all are divided by the power of `shift`.
  const auto beside = [&](double largest) {
    return rule.one_more ? raised(rule, (rule.maximum_subtracted ? largest : 0) - shift) : 0;
  };
  // Sums of the others are added up without its own, beside which they may vanish. Where all vanish, anything is possible.
  struct Reach {
    double low, high, low_others = 0, high_others = 0;
  };
  std::vector<Reach> reaches;
  for (const Share& share : shares)
    reaches.push_back({raised(rule, share.z - share.z_radius - shift), raised(rule, share.z + share.z_radius - shift)});
  const auto add_up = [](auto begin, auto end, double low_sum, double high_sum) {
    for (; begin != end; ++begin) {
      begin->low_others += low_sum, begin->high_others += high_sum;
      low_sum += begin->low, high_sum += begin->high;
    }
  };
  add_up(reaches.begin(), reaches.end(), beside(least), beside(shift));
  add_up(reaches.rbegin(), reaches.rend(), 0, 0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto& [low, high, low_others, high_others] = reaches[i];
    const double most = low_others + high > 0 ? high / (low_others + high) : 1;
    const double fewest = high_others + low > 0 ? low / (high_others + low) : 0;
    shares[i].radius = std::max({0.0, most - shares[i].weight, shares[i].weight - fewest});
  }
}

// e^(z − shift) to multiples of `unit`, and what these have of their sum.
void write_powers(std::vector<Share>& shares, const Softmax& rule, double largest, double shift, double unit) {
  std::vector<double> powers;
  for (const Share& share : shares) powers.push_back(rounded_to(unit, raised(rule, share.z - shift)));
  const double beside = rule.one_more ? raised(rule, (rule.maximum_subtracted ? largest : 0) - shift) : 0;
  const double sum = std::accumulate(powers.begin(), powers.end(), beside);
  for (std::size_t i = 0; i < shares.size() && sum > 0; ++i)
    shares[i].written = std::max(shares[i].written, std::abs(powers[i] / sum - shares[i].weight));
}

// Each z − max is rounded once, which moves e^(z − max) by the share eps·|z − max|, and the sum by the mean of these
// shares, each as often as it has weight. The sum of n powers and the last quotient err relatively too. A hidden key has
// weight 0, exactly.
void bound_powers(std::vector<Share>& shares, const Softmax& rule, const FloatingPoint& arithmetic) {
  double largest = -std::numeric_limits<double>::infinity(), mean = 0;
  for (const Share& share : shares) largest = std::max(largest, share.z);
  if (!std::isfinite(largest)) return;  // nothing to attend to, or NaN throughout
  if (std::any_of(shares.begin(), shares.end(), [](const Share& share) { return share.z_radius > 0; }))
    move_powers(shares, rule);
  const auto distance = [&](const Share& share) { return size_of(largest - share.z); };
  for (const Share& share : shares) mean += size_of(share.weight) * distance(share);
  if (arithmetic.on_the_way > 0)
    for (const double shift : {0.0, largest}) write_powers(shares, rule, largest, shift, 2 * arithmetic.on_the_way);
  for (Share& share : shares) {
    double roundings = distance(share) + mean + static_cast<double>(shares.size()) + arithmetic.function_roundings;
    if (arithmetic.by_chance()) roundings += std::pow(distance(share), 2) + mean * mean - distance(share) - mean;
    share.radius = std::isinf(share.z)
                       ? 0
                       : bound_of(share.radius + share.written, size_of(share.weight), roundings, 1, 0, arithmetic);
  }
}

// z / Σ z: where the sum may be 0 nothing is known.
void bound_quotients(std::vector<Share>& shares, const FloatingPoint& arithmetic) {
  double sum = 0, sum_radius = 0;
  for (const Share& share : shares) {
    sum += share.z;
    sum_radius += bound_of(share.z_radius, size_of(share.z), static_cast<double>(shares.size()), 1, 0, arithmetic);
  }
  const double smallest = std::abs(sum) - sum_radius;
  for (Share& share : shares)
    share.radius = smallest > 0 ? (share.z_radius + std::abs(share.weight) * sum_radius) / smallest
                                : std::numeric_limits<double>::infinity();
}

Tensor radius_of_softmax(const Plan& plan, const Step& step, const Uncertain& z, const Tensor& result,
                         const FloatingPoint& arithmetic) {
  Tensor radius(result.shape());
  radius.fill(-1);
  std::vector<Entry> together;
  std::vector<Share> shares;
  for_each_entry(result.shape(), [&](const Entry& entry) {
    if (radius.at(entry) != -1) return;  // together with an earlier one
    together.clear();
    shares.clear();
    for_each_term(plan, step, entry, [&](const Term& term) {
      const Entry& at = together.emplace_back(term.begin()->at);
      shares.push_back({z.numbers->at(at), radius_at(z, at), result.at(at)});
    });
    if (step.softmax.power == Softmax::Power::none)
      bound_quotients(shares, arithmetic);
    else
      bound_powers(shares, step.softmax, arithmetic);
    for (std::size_t i = 0; i < shares.size(); ++i) radius.at(together[i]) = shares[i].radius;
  });
  return radius;
}

}  // namespace

StepTaker::StepTaker(const RowPlan& rows, int threads)
    : rows_(rows), workers_(threads), backend_(compute::make_cpu_backend(rows.plan, rows.schedule, Dtype::f64)) {}

std::shared_ptr<const Tensor> StepTaker::take(const Step& step, const Tensors& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) backend_->set(step.in[i], operands[i]);
  const std::size_t place = static_cast<std::size_t>(&step - rows_.plan.steps.data());
  compute::run_group(rows_.plan, {place, place + 1}, *backend_, workers_, nullptr);
  std::shared_ptr<const Tensor> result = backend_->get(step.out);
  backend_->drop(step.out);
  return result;
}

std::shared_ptr<const Tensor> StepTaker::result(const Step& step, const std::vector<Uncertain>& operands) {
  Tensors numbers;
  for (const Uncertain& operand : operands) numbers.push_back(operand.numbers);
  return take(step, numbers);
}

// (|a| + u)·(|b| + w) − |a|·|b| is the most by which (a ± u)·(b ± w) moves, and a sum moves by what its terms do: the step
// on what the operands reach, less the step on their sizes. Of n terms each is rounded once, and each of the sums behind
// it. Where chance decides, all this holds of the squares. The first k terms of a random walk have the mean square k·P/n,
// and k²·s²/n² is what leads them to its end s; P is the sum of the squares of all. Of a mean the weights have such a sum
// in common.
Tensor StepTaker::radius_of_terms(const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                                  const FloatingPoint& arithmetic) {
  const bool by_chance = arithmetic.by_chance(), mean = by_chance && is_mean(rows_.plan, step);
  const auto measured = [&](double number) { return by_chance ? number * number : number; };
  double terms = 0;
  for_each_term(rows_.plan, step, {}, [&](const Term&) { ++terms; });
  double alike = mean ? alike_rows(*operands.back().numbers) : 1;
  Tensors sizes, reaches;
  for (const Uncertain& operand : operands) {
    Tensor size(operand.numbers->shape());
    for (Index i = 0; i < size.size(); ++i) size.data()[i] = measured(size_of(operand.numbers->data()[i]));
    sizes.push_back(std::make_shared<const Tensor>(std::move(size)));
    reaches.push_back(sizes.back());
    if (!operand.radius) continue;
    Tensor reach = *sizes.back();
    for (Index i = 0; i < reach.size(); ++i) reach.data()[i] += alike * measured(operand.radius->data()[i]);
    reaches.back() = std::make_shared<const Tensor>(std::move(reach));
    if (mean) alike = std::max(alike, std::sqrt(terms));  // tokens on an even grid are rounded somewhat alike
  }
  const std::shared_ptr<const Tensor> size = take(step, sizes), reach = sizes == reaches ? size : take(step, reaches);
  Tensor radius(result.shape());
  for (Index i = 0; i < radius.size(); ++i) {
    double own = size->data()[i], moved = reach->data()[i] - own, roundings = terms;
    if (by_chance) {
      const double sum = size_of(result.data()[i]), share = own == 0 ? 0 : sum * sum / own;
      roundings = 1 + (std::min(terms, arithmetic.longest_sum) + 1) * (1 / 2.0 + share * (mean ? 2 : 1) / 3);
      own = std::sqrt(own), moved = std::sqrt(moved);
    }
    radius.data()[i] = bound_of(moved, own, roundings, terms, result.data()[i], arithmetic);
  }
  return radius;
}

std::shared_ptr<const Tensor> StepTaker::radius(const Step& step, const std::vector<Uncertain>& operands,
                                                const Tensor& result, const FloatingPoint& arithmetic) {
  // Of a gradient through what may be anything nothing is known, and nothing given there is wrong.
  const auto shared = [&](Tensor radius) {
    for (Index i = 0; i < radius.size() && is_gradient(step.id); ++i)
      if (!(radius.data()[i] <= anything) && std::isfinite(result.data()[i])) radius.data()[i] = anything;
    return std::make_shared<const Tensor>(std::move(radius));
  };
  switch (step.op) {
    case Op::product:
    case Op::multiply:
    case Op::add: return shared(radius_of_terms(step, operands, result, arithmetic));
    case Op::rotate: return shared(radius_of_rotation(rows_.plan, step, operands, result, arithmetic));
    case Op::softcap: return shared(radius_of_softcap(step.cap, operands[0], result, arithmetic));
    case Op::softmax: return shared(radius_of_softmax(rows_.plan, step, operands[0], result, arithmetic));
    case Op::norm: return shared(radius_of_norm(rows_.plan, step, operands, result, arithmetic));
    case Op::activation: return shared(radius_of_activation(rows_.plan, step, operands, result, arithmetic));
    case Op::sum: return shared(radius_of_terms(step, operands, result, arithmetic));
    case Op::difference:
    case Op::slope:
    case Op::norm_slope: return shared(radius_of_slope(rows_.plan, step, operands, result, arithmetic));
    case Op::split:
    case Op::merge:
    case Op::copy:
    case Op::reshape:
    case Op::pool:  // what they do to the numbers, they do to the radii
      return operands[0].radius ? take(step, {operands[0].radius}) : nullptr;
  }
  return nullptr;
}

}  // namespace mha::study
