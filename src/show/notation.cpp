// How values, entries, formulas and shapes are written.
#include "show/notation.hpp"

#include <fmt/format.h>

#include <array>

#include "show/number_text.hpp"
#include "show/phrases.hpp"

namespace mha {
namespace {

constexpr Index most_heads_in_formula = 4;

std::string superscript(Index number) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char digit : fmt::format("{}", number)) result += digits[static_cast<std::size_t>(digit - '0')];
  return result;
}

std::string size_text(const Shape& shape, bool transposed = false) {
  return transposed ? fmt::format("{}×{}", shape.cols, shape.rows) : fmt::format("{}×{}", shape.rows, shape.cols);
}

std::string product_formula(const Scene& scene, const Step& step, Place place) {
  std::string text = symbol(scene, step.in[0], place) + " · " + symbol(scene, step.in[1], place, step.transposed);
  if (step.in.size() > 2) text += " + " + symbol(scene, step.in[2], place);
  return text;
}

std::string sum_formula(const Scene& scene, const Step& step, Place place) {
  std::string text;
  for (const ValueId id : step.in) text += (text.empty() ? "" : " + ") + symbol(scene, id, place);
  return text;
}

// "[head⁽¹⁾ | head⁽²⁾]"
std::string merge_formula(const Scene& scene, const Step& step, Place place) {
  const Index heads = scene.problem.heads;
  std::string text;
  for (Index head = 0; head < heads; ++head) {
    const bool left_out = heads > most_heads_in_formula && head > 0 && head + 1 < heads;
    if (left_out && head > 1) continue;
    text += (text.empty() ? "" : " | ") + (left_out ? "…" : symbol(scene, step.in[0], {place.item, head}));
  }
  return "[" + text + "]";
}

std::string softcap_formula(const Scene& scene, const Step& step, Place place) {
  NumberStyle style(scene.options.precision, NumberStyle::Origin::given);
  return fmt::format("{0}·tanh({1}/{0})", style.text(step.cap), symbol(scene, step.in[0], place));
}

std::string right_side(const Scene& scene, const Step& step, Place place) {
  const Language language = scene.options.language;
  const std::string first = symbol(scene, step.in[0], place);
  switch (step.op) {
    case Op::product: return product_formula(scene, step, place);
    case Op::split: return say(language, phrase::columns_of_packed, first, split_columns(scene, step, place.head));
    case Op::rotate: return say(language, phrase::each_row, "rope(" + first + ")");
    case Op::multiply: return first + " × " + symbol(scene, step.in[1], place);
    case Op::softcap: return softcap_formula(scene, step, place);
    case Op::add: return sum_formula(scene, step, place);
    case Op::softmax: return say(language, phrase::each_row, "softmax(" + first + ")");
    case Op::merge: return merge_formula(scene, step, place);
    case Op::copy: return symbol(scene, step.in[0], place);
  }
  return "";
}

}  // namespace

std::string head_mark(const Scene& scene, const Value& value, Index head) {
  if (!value.per_head) return "";
  const bool shared = value.shape.heads < scene.problem.heads;
  const Index number = scene.counted(broadcast(head, value.shape.heads, scene.problem.heads));
  return (shared ? "⁽ᵏᵛ" : "⁽") + superscript(number) + "⁾";
}

std::string symbol(const Scene& scene, ValueId id, Place place, bool transposed) {
  const Value& value = scene.plan.value(id);
  return value.symbol + head_mark(scene, value, place.head) + (transposed ? "ᵀ" : "");
}

std::string entry(const Scene& scene, ValueId id, Place place, Index row, Index column) {
  return fmt::format("{}[{},{}]", symbol(scene, id, place), scene.counted(row), scene.counted(column));
}

std::string formula(const Scene& scene, const Step& step, Place place) {
  return symbol(scene, step.out, place) + " = " + right_side(scene, step, place);
}

std::string shape_arithmetic(const Scene& scene, const Step& step) {
  const Shape& from = scene.plan.value(step.in[0]).shape;
  const Shape& to = scene.plan.value(step.out).shape;
  switch (step.op) {
    case Op::split:
      return fmt::format("{}×{} → {}×{}×{} → {}×{}×{}", from.rows, from.cols, to.rows, to.heads, to.cols, to.heads, to.rows,
                         to.cols);
    case Op::merge:
      return fmt::format("{}×{}×{} → {}×{}×{} → {}×{}", from.heads, from.rows, from.cols, from.rows, from.heads, from.cols,
                         to.rows, to.cols);
    case Op::product: {
      std::string text = size_text(from) + " · " + size_text(scene.plan.value(step.in[1]).shape, step.transposed);
      if (step.in.size() > 2) text += " + " + size_text(scene.plan.value(step.in[2]).shape);
      return text + " → " + size_text(to);
    }
    case Op::add: {
      std::string text;
      for (const ValueId id : step.in) text += (text.empty() ? "" : " + ") + size_text(scene.plan.value(id).shape);
      return text + " → " + size_text(to);
    }
    case Op::rotate:
    case Op::multiply:
    case Op::softcap:
    case Op::softmax:
    case Op::copy: return size_text(from) + " → " + size_text(to);
  }
  return "";
}

std::string split_columns(const Scene& scene, const Step& step, Index head) {
  const Shape& to = scene.plan.value(step.out).shape;
  const Index own = broadcast(head, to.heads, scene.problem.heads);
  return range_text(own * to.cols, (own + 1) * to.cols - 1, scene.options.index_base);
}

Index kv_head(const Problem& problem, Index head) {
  return broadcast(head, problem.kv_heads, problem.heads);
}

}  // namespace mha
