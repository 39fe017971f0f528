// Spells out the functions of a row, of a pair or of an entry: norms and activations, their ways back, rotary positions.
#include "core/op_rules.hpp"
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"

namespace mha::show {

// (x − mean) / √(variance + eps)·γ + β, or x / √(mean of x² + eps)·γ
Spelling::RightSide Spelling::norm(const Terms& terms, EntryAt at, As as) const {
  const Norm& rule = step_.norm;
  const bool is_layer = rule.kind == Norm::Kind::layer;
  const auto count = static_cast<double>(rule.by_column ? value_of(0).shape.rows : value_of(0).shape.cols);
  double mean = 0, squares = 0;
  const auto of_each = [&](auto take) {
    for (const Factors& term : terms)
      if (term.front().operand == 0) take(number(term.front()));
  };
  if (is_layer) of_each([&](double x) { mean += x / count; });
  of_each([&](double x) { squares += (x - mean) * (x - mean); });
  const double variance = squares / (rule.sample_variance ? count - 1 : count);

  const auto line = [&](As words) {
    const bool names = words == As::names;
    const std::string x = word({0, place_, at}, words), eps = full_text(rule.eps);
    const std::string spread = !names     ? computed().fixed(variance)
                               : is_layer ? say_it({"variance", "方差"})
                                          : say_it({"mean square", "均方"});
    const std::string root = rule.eps_outside ? "√" + spread + " + " + eps : "√(" + spread + " + " + eps + ")";
    std::string text = is_layer ? "(" + x + " − " + (names ? say_it({"mean", "均值"}) : computed().term(mean)) + ")" : x;
    text += " / " + (rule.eps_outside ? "(" + root + ")" : root);
    for (const Factors& term : terms)
      if (term.front().operand > 0) text += (term.front().operand == 1 ? " × " : " + ") + word(term.front(), words);
    return text;
  };
  RightSide right = equal_to(line(as));
  if (as == As::numbers)
    right.remark = is_layer ? say_it(phrase::variance, computed().fixed(mean), computed().fixed(variance))
                            : say_it({"mean square {} of this row", "本行均方 {}"}, computed().fixed(variance));
  return right;
}

Spelling::RightSide Spelling::activation(const Factors& factors, As as) const {
  const std::string x = word(factors.front(), as), gate = factors.size() > 1 ? " × " + word(factors.back(), as) : "";
  const bool names = as == As::names;
  const double value = number(factors.front());
  switch (step_.activation) {
    case Activation::none: return equal_to(x + gate);
    case Activation::relu: return equal_to("max(" + x + ", 0)" + gate);
    case Activation::gelu: {
      RightSide right = equal_to(x + "·Φ(" + (names ? x : text(factors.front())) + ")" + gate);
      if (!names)
        right.lines.push_back({"=", x + "·" + computed().fixed(0.5 * std::erfc(-value / std::sqrt(2.0))) + gate, {}});
      return right;
    }
    case Activation::gelu_tanh: return equal_to(fmt::format("½·{0}·(1 + tanh(√(2/π)·({0} + 0.044715·{0}³))){1}", x, gate));
    case Activation::silu: {
      RightSide right = equal_to(x + " / (1 + e^−" + x + ")" + gate);
      if (!names) right.lines.push_back({"=", x + " / " + computed().fixed(1 + std::exp(-value)) + gate, {}});
      return right;
    }
  }
  return {};
}

// c·(a − b)
Spelling::RightSide Spelling::difference(const Terms& terms, As as) const {
  const auto text = [&](std::size_t i) { return word(terms[i].front(), as); };
  const std::string apart = text(0) + " − " + text(1);
  if (terms.size() == 2) return equal_to(apart);
  const bool is_factor = value_of(2).shape.size() == 1;  // known by its name: 2/12
  return equal_to((is_factor ? value_of(2).symbol : text(2)) + "·(" + apart + ")");
}

// g × f′(x), or g × (1 − tanh²(x/c)); then the number of the slope.
Spelling::RightSide Spelling::slope(const Terms& terms, As as) const {
  const std::string g = word(terms[0].front(), as);
  const std::string x = as == As::names ? word(terms[1].front(), as) : text(terms[1].front());
  const std::string gate = terms.size() > 2 ? " × " + word(terms[2].front(), as) : "";
  const double at = number(terms[1].front());
  const std::string name = fmt::format("{}′({})", activation_names[static_cast<std::size_t>(step_.activation)], x);
  const std::string cap = step_.cap > 0 ? fmt::format("(1 − tanh²({}/{}))", x, full_text(step_.cap)) : "";
  if (cap.empty() && step_.activation == Activation::none) return equal_to(g + gate);
  RightSide right = equal_to(g + " × " + (cap.empty() ? name : cap) + gate);
  if (as == As::names) return right;
  const double squeezed = step_.cap > 0 ? std::tanh(at / step_.cap) : 0;
  const double steep = step_.cap > 0 ? 1 - squeezed * squeezed : steepness(step_.activation, at);
  right.lines.push_back({"=", g + " × " + computed().term(steep) + gate, {}});
  return right;
}

// (h − mean of h − x̂·mean of h ∘ x̂) / σ, with h = g ∘ γ
Spelling::RightSide Spelling::norm_slope(EntryAt at, As as) const {
  const bool is_layer = step_.norm.kind == Norm::Kind::layer, names = as == As::names;
  const Index count = value_of(0).shape.cols;
  const auto n = static_cast<double>(count);
  const auto x = [&](Index j) { return number({1, place_, {at.row, j}}); };
  const auto h = [&](Index j) {
    return number({0, place_, {at.row, j}}) * (step_.in.size() > 2 ? number({2, place_, {0, j}}) : 1);
  };
  double x_mean = 0, squares = 0, mean = 0, along = 0;
  for (Index j = 0; j < count && is_layer; ++j) x_mean += x(j) / n;
  for (Index j = 0; j < count; ++j) squares += (x(j) - x_mean) * (x(j) - x_mean) / n;
  const double root = std::sqrt(squares + step_.norm.eps);
  const auto normed = [&](Index j) { return (x(j) - x_mean) / root; };
  for (Index j = 0; j < count; ++j) mean += h(j) / n, along += h(j) * normed(j) / n;

  std::string of_h = word({0, place_, at}, as);
  if (step_.in.size() > 2) of_h += "·" + word({2, place_, {0, at.column}}, as);
  const auto fixed = [&](double number) { return computed().term(number); };
  std::string text = names ? "h" : of_h;
  if (is_layer) text += " − " + (names ? say_it(phrase::mean_of, "h") : fixed(mean));
  text += " − " + (names ? "x̂·" + say_it(phrase::mean_of, "h ∘ x̂") : fixed(normed(at.column)) + "·" + fixed(along));
  RightSide right = equal_to("(" + text + ") / " + (names ? "σ" : fixed(root)));
  if (names) return right;
  right.remark = is_layer ? say_it({"h = {}, x̂ = {}, mean of h {}, mean of h ∘ x̂ {}, σ = {}",
                                    "h = {}，x̂ = {}，h 的均值 {}，h ∘ x̂ 的均值 {}，σ = {}"},
                                   of_h, fixed(normed(at.column)), fixed(mean), fixed(along), fixed(root))
                          : say_it(phrase::mean_of_slope, of_h, fixed(normed(at.column)), fixed(along), fixed(root));
  return right;
}

// At position 0 nothing turns.
EntryAt Spelling::first_turned() const {
  for (Index r = 0; r < result_.shown_rows().count(); ++r)
    if (const Index row = result_.shown_rows().place(r); position_of_row(scene_, step_, row) != 0) return {row, 0};
  return {};
}

// (a, b) → (a·cos − b·sin, a·sin + b·cos)
Spelling::RightSide Spelling::rotation(const Terms& terms, Index row, As as, bool in_full) const {
  if (terms.size() == 1) return taken_over(terms[0][0], as, in_full, say_it({"this column is not turned", "此列不旋转"}));
  const bool is_first = terms[0][1].operand == 1;  // the cosine goes with the first column
  const ReadEntry &cosine = terms[is_first ? 0 : 1][1], &sine = terms[is_first ? 1 : 0][1];
  const std::string left = word(terms[0][0], as), right = word(terms[1][0], as);
  const auto turned = [&](const std::string& cos, const std::string& sin) {
    const char *minus = step_.transposed ? " + " : " − ", *plus = step_.transposed ? " − " : " + ";  // back by −angle
    if (is_first) return left + "·" + cos + minus + right + "·" + sin;
    return step_.transposed ? right + "·" + cos + plus + left + "·" + sin : left + "·" + sin + plus + right + "·" + cos;
  };
  if (as == As::names) return equal_to(turned(value_of(1).symbol + " θ", value_of(2).symbol + " θ"));

  const Rope& rope = *scene_.problem.rope;
  const Index pair = cosine.at.column;
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims);
  const Index place = position_of_row(scene_, step_, row);
  const double angle = static_cast<double>(place) * std::pow(rope.base, exponent);
  RightSide sides = equal_to(turned(word(cosine, as), word(sine, as)));
  // A changed plan may turn by another angle, of which nothing but the cosine and the sine is known.
  if (std::cos(angle) != number(cosine) || std::sin(angle) != number(sine)) return sides;
  const std::string theta = computed().fixed(angle);
  sides.lines.insert(sides.lines.begin(), {"=", turned("cos(" + theta + ")", "sin(" + theta + ")"), {}});
  const std::string power = pair == 0 ? "0" : fmt::format("-{}/{}", 2 * pair, rope.dims);
  sides.remark = say_it(phrase::angle, place, given().text(rope.base), power, theta);
  return sides;
}

}  // namespace mha::show
