// Spells out what only a backward pass has: differences, slopes, the way back through a norm.

#include "core/steepness.hpp"
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"

namespace mha::show {

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
  right.remark =
      is_layer ? say_it(phrase::means_of_slope, of_h, fixed(normed(at.column)), fixed(mean), fixed(along), fixed(root))
               : say_it(phrase::mean_of_slope, of_h, fixed(normed(at.column)), fixed(along), fixed(root));
  return right;
}

}  // namespace mha::show
