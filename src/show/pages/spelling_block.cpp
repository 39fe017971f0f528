// Spells out what stands beside the attention in a block: norms and activations.

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
                               : is_layer ? say_it(phrase::variance_name)
                                          : say_it(phrase::mean_square_name);
    const std::string root = rule.eps_outside ? "√" + spread + " + " + eps : "√(" + spread + " + " + eps + ")";
    std::string text = is_layer ? "(" + x + " − " + (names ? say_it(phrase::mean_name) : computed().term(mean)) + ")" : x;
    text += " / " + (rule.eps_outside ? "(" + root + ")" : root);
    for (const Factors& term : terms)
      if (term.front().operand > 0) text += (term.front().operand == 1 ? " × " : " + ") + word(term.front(), words);
    return text;
  };
  RightSide right = equal_to(line(as));
  if (as == As::numbers)
    right.remark = is_layer ? say_it(phrase::variance, computed().fixed(mean), computed().fixed(variance))
                            : say_it(phrase::mean_square, computed().fixed(variance));
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

}  // namespace mha::show
