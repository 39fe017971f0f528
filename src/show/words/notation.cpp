// How values, entries, formulas and shapes are written.
#include "show/words/notation.hpp"

#include "core/gradient.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {

std::string superscript(Index number) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char digit : fmt::format("{}", number)) result += digits[static_cast<std::size_t>(digit - '0')];
  return result;
}

std::string subscript(Index number) {
  constexpr std::array<std::string_view, 10> digits = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string result;
  for (const char digit : fmt::format("{}", number)) result += digits[static_cast<std::size_t>(digit - '0')];
  return result;
}

namespace {

constexpr Index most_listed = 4;  // heads in a formula, columns of a head

std::string size_text(const Shape& shape, bool transposed = false) {
  return transposed ? fmt::format("{}×{}", shape.cols, shape.rows) : fmt::format("{}×{}", shape.rows, shape.cols);
}

// With the heads, where there are several.
std::string whole_size_text(const Shape& shape) {
  return (shape.heads > 1 ? fmt::format("{}×", shape.heads) : "") + size_text(shape);
}

// "a | b | c", or "a | … | z" for a long list; item(i) is the text of the i-th.
template <typename Item>
std::string listed(Index count, const std::string& separator, Item item) {
  return series_text(count, count > most_listed ? 2 : count, item, separator);
}

bool is_used_transposed(const Step& step, std::size_t operand) {
  return (operand == 0 && step.first_transposed) || (operand == 1 && step.transposed);
}

// "a · b + c", "a ∘ b", "a + b + c"
template <typename Text>
std::string between_signs(const Step& step, Text text) {
  std::string all = text(0);
  for (std::size_t i = 1; i < step.in.size(); ++i) all += fmt::format(" {} {}", sign_before(step, i), text(i));
  return all;
}

// "[head⁽¹⁾ | head⁽²⁾]"
std::string merge_formula(const Scene& scene, const Step& step, Place place) {
  const Index heads = scene.plan.value(step.in[0]).shape.heads;
  const bool reversed = step.arrangement == Arrangement::reversed;
  const std::string text =
      "[" +
      listed(heads, " | ",
             [&](Index i) {
               return symbol(scene, step.in[0], place_of_head(scene, step.in[0], place.item, reversed ? heads - 1 - i : i));
             }) +
      "]";
  return step.arrangement == Arrangement::interleaved ? say(scene.options.language, phrase::columns_in_turns, text) : text;
}

// "Q re-read as 2×3×2"
std::string reshape_formula(const Scene& scene, const Step& step, Place place) {
  const Value &from = scene.plan.value(step.in[0]), &to = scene.plan.value(step.out);
  const bool each_alone = from.shape.heads == to.shape.heads;
  const std::string size = each_alone ? size_text(to.shape) : whole_size_text(to.shape);
  const std::string whole = from.shape.heads == 1 || each_alone ? symbol(scene, step.in[0], place) : from.symbol;
  return say(scene.options.language, {"{} re-read as {}", "{} 重塑为 {}"}, whole, size);
}

std::string pool_formula(const Scene& scene, const Step& step) {
  const std::string& all = scene.plan.value(step.in[0]).symbol;
  switch (step.pooling) {
    case Pooling::mean: return say(scene.options.language, {"mean of {} over all heads", "各头 {} 的平均"}, all);
    case Pooling::sum: return say(scene.options.language, phrase::sum_of_heads, all);
    case Pooling::maximum: return say(scene.options.language, {"maximum of {} over all heads", "各头 {} 的最大值"}, all);
  }
  return "";
}

// "softmax(Z)", or what is done instead: "2^Z / Σ 2^Z", "e^Z / (1 + Σ e^Z)", "Z / Σ Z".
std::string normalised(const Softmax& softmax, const std::string& z) {
  if (softmax.power == Softmax::Power::e && !softmax.one_more) return "softmax(" + z + ")";
  const bool is_e = softmax.power == Softmax::Power::e, is_two = softmax.power == Softmax::Power::two;
  const std::string power = (is_e ? "e^" : is_two ? "2^" : "") + z;
  return power + (softmax.one_more ? " / (1 + Σ " + power + ")" : " / Σ " + power);
}

std::string softmax_formula(const Scene& scene, const Step& step, Place place) {
  const Language language = scene.options.language;
  const std::string text = normalised(step.softmax, symbol(scene, step.in[0], place));
  const bool bare = !step.softmax.maximum_subtracted && step.softmax.power != Softmax::Power::none;
  const std::string more = bare ? say(language, {", no maximum subtracted", "，不减最大值"}) : "";
  switch (step.softmax.over) {
    case Softmax::Over::row: return say(language, phrase::each_row, text) + more;
    case Softmax::Over::column: return say(language, phrase::each_column, text) + more;
    case Softmax::Over::heads: return say(language, {"{}, over the heads", "{}，跨各头"}, text) + more;
    case Softmax::Over::matrix: return say(language, {"{}, over the whole matrix", "{}，对整个矩阵"}, text) + more;
    case Softmax::Over::items: return say(language, phrase::over_items, text) + more;
  }
  return text;
}

// "Y − T"; "A ∘ (dA − r)"
std::string difference_formula(const Scene& scene, const Step& step, Place place) {
  const auto word = [&](std::size_t i) { return symbol(scene, step.in[i], place); };
  const std::string text = word(0) + " − " + word(1);
  if (step.in.size() == 2) return text;
  return fmt::format("{} {} ({})", word(2), scene.plan.value(step.in[2]).shape.size() == 1 ? "·" : "∘", text);
}

// "dH ∘ gelu′(H)", "dM ∘ (1 − tanh²(Z / 3))"
std::string slope_formula(const Scene& scene, const Step& step, Place place) {
  const std::string g = symbol(scene, step.in[0], place), x = symbol(scene, step.in[1], place);
  if (step.cap > 0) return fmt::format("{} ∘ (1 − tanh²({} / {}))", g, x, full_text(step.cap));
  const std::string gate = step.in.size() > 2 ? " ∘ " + symbol(scene, step.in[2], place) : "";
  if (step.activation == Activation::none) return g + gate;
  return fmt::format("{} ∘ {}′({}){}", g, activation_names[static_cast<std::size_t>(step.activation)], x, gate);
}

// "(h − mean of h − x̂ ∘ mean of h ∘ x̂) / σ, h = dN ∘ γ, each row"
std::string norm_slope_formula(const Scene& scene, const Step& step, Place place) {
  const Text& text = step.norm.kind == Norm::Kind::layer ? phrase::through_layer_norm : phrase::through_rms_norm;
  std::string h = symbol(scene, step.in[0], place);
  if (step.in.size() > 2) h += " ∘ " + symbol(scene, step.in[2], place);
  return say(scene.options.language, text, h);
}

// "row sums of A ∘ dA", "dY summed over the rows"
std::string sum_formula(const Scene& scene, const Step& step, Place place) {
  const Shape &from = scene.plan.value(step.in[0]).shape, &to = scene.plan.value(step.out).shape;
  const bool over_heads = from.heads > to.heads;
  std::string text;
  for (const ValueId id : step.in)
    text += (text.empty() ? "" : " ∘ ") + (over_heads ? scene.plan.value(id).symbol : symbol(scene, id, place));
  const Language language = scene.options.language;
  if (from.cols > to.cols) return say(language, {"row sums of {}", "{} 的各行之和"}, text);
  if (over_heads && to.heads == 1 && from.batch == to.batch) return say(language, phrase::sum_of_heads, text);
  const bool over_rows = from.rows > to.rows, over_items = from.batch > to.batch;
  if (over_heads) return say(language, over_items ? phrase::sum_of_group_items : phrase::sum_of_group, text);
  if (over_rows && over_items) return say(language, phrase::sum_of_rows_items, text);
  return say(language, over_items ? phrase::sum_of_items : phrase::sum_of_rows, text);
}

std::string softcap_formula(const Scene& scene, const Step& step, Place place) {
  return fmt::format("{0}·tanh({1}/{0})", full_text(step.cap), symbol(scene, step.in[0], place));
}

std::string activation_name(const Step& step) {
  return std::string(activation_names[static_cast<std::size_t>(step.activation)]);
}

// "layernorm(X) ∘ γ + β, each row"
std::string norm_formula(const Scene& scene, const Step& step, Place place) {
  std::string text = fmt::format("{}norm({})", norm_name(step.norm.kind), symbol(scene, step.in[0], place));
  if (step.in.size() > 1) text += " ∘ " + symbol(scene, step.in[1], place);
  if (step.in.size() > 2) text += " + " + symbol(scene, step.in[2], place);
  return say(scene.options.language, step.norm.by_column ? phrase::each_column : phrase::each_row, text);
}

std::string right_side(const Scene& scene, const Step& step, Place place) {
  const Language language = scene.options.language;
  const std::string first = symbol(scene, step.in[0], place);
  switch (step.op) {
    case Op::product:
    case Op::multiply:
    case Op::add:
      if (const std::optional<Scaling> scaling = scaling_of(scene, step))
        return fmt::format("{} {} {}", first, scaling->sign, scaling->name);
      return between_signs(step,
                           [&](std::size_t i) { return symbol(scene, step.in[i], place, is_used_transposed(step, i)); });
    case Op::split:
      return say(language,
                 scene.plan.value(step.out).shape.cols == 1 ? phrase::column_of_packed : phrase::columns_of_packed, first,
                 split_columns(scene, step, place.head));
    case Op::rotate: return say(language, phrase::each_row, (step.transposed ? "rope⁻¹(" : "rope(") + first + ")");
    case Op::softcap: return softcap_formula(scene, step, place);
    case Op::softmax: return softmax_formula(scene, step, place);
    case Op::merge: return merge_formula(scene, step, place);
    case Op::copy: return first;
    case Op::norm: return norm_formula(scene, step, place);
    case Op::activation: {
      const std::string bent = step.activation == Activation::none ? first : activation_name(step) + "(" + first + ")";
      return step.in.size() == 1 ? bent : bent + " ∘ " + symbol(scene, step.in[1], place);
    }
    case Op::difference: return difference_formula(scene, step, place);
    case Op::slope: return slope_formula(scene, step, place);
    case Op::norm_slope: return norm_slope_formula(scene, step, place);
    case Op::sum: return sum_formula(scene, step, place);
    case Op::reshape: return reshape_formula(scene, step, place);
    case Op::pool: return pool_formula(scene, step);
  }
  return "";
}

std::string rope_text(const Scene& scene, const Rope& rope) {
  const Language language = scene.options.language;
  const NumberStyle style(scene.options.precision, NumberStyle::Origin::given);
  const std::string pairing = say(language, rope.pairing == Pairing::half ? phrase::half : phrase::interleaved);
  return say(language, {"rope {}, base {}", "旋转位置编码 {}，底数 {}"}, pairing, style.text(rope.base));
}

std::string scale_text(const Scene& scene, const Scale& scale) {
  switch (scale.kind) {
    case Scale::Kind::inverse_root_of_d_k: break;
    case Scale::Kind::number: return say(scene.options.language, {"scale {}", "缩放因子 {}"}, full_text(scale.number));
    case Scale::Kind::none: return say(scene.options.language, {"no scale", "不缩放"});
  }
  return "";
}

}  // namespace

std::string masks_text(const Problem& problem, Language language) {
  std::string names;
  std::size_t count = 0;
  for (const Mask& mask : problem.masks) {
    if (mask.kind == Mask::Kind::none) continue;
    names += (count++ == 0 ? "" : " + ") + mask_title(mask.kind, language);
    const Align align = mask.align.value_or(Align{});
    const Index shift = align.offset(0, problem.queries(), problem.keys());
    if (align.kind == Align::Kind::per_item && problem.batch() > 1)
      names += say(language, phrase::shifted_by_item);
    else if (shift != 0)
      names += say(language, phrase::shifted, shift);
  }
  if (count == 0) return say(language, {"no mask", "无掩码"});
  return say(language, count == 1 ? phrase::mask : phrase::masks, names);
}

Place place_of_head(const Scene& scene, ValueId id, Index item, Index own) {
  return {item, own * (scene.problem.heads / scene.plan.value(id).shape.heads)};
}

Index own_head(const Scene& scene, ValueId id, Index head) {
  return broadcast(head, scene.plan.value(id).shape.heads, scene.problem.heads);
}

std::string head_mark(const Scene& scene, const Value& value, Index head) {
  const Index heads = scene.problem.heads, own = value.shape.heads;
  if (!value.per_head || (own < heads && own != scene.problem.kv_heads)) return "";
  return (own < heads ? "⁽ᵏᵛ" : "⁽") + superscript(scene.counted(broadcast(head, own, heads))) + "⁾";
}

namespace {

// In a stack, X and what the layers give have the names X₀, X₁, … where a later layer reads them.
std::optional<int> layers_before(const Scene& scene, const Value& value) {
  if (value.gradient == Value::Gradient::whole) return layers_before(scene, scene.plan.value(value.of));
  if (!scene.is_stack() || !value.step) return std::nullopt;
  if (value.step == StepId::X) return 0;
  return value.layer == scene.layer ? std::nullopt : std::optional(value.layer + 1);
}

}  // namespace

std::string input_symbol(const Scene& scene) {
  return "X" + subscript(scene.layer);
}

std::string result_symbol(const Scene& scene) {
  return "X" + subscript(scene.layer + 1);
}

std::string norm_name(Norm::Kind kind) {
  return kind == Norm::Kind::layer ? "layer" : "rms";
}

std::string within(const Text& title, Language language) {
  std::string text(title.in(language));
  const auto is_capital = [&](std::size_t i) { return i < text.size() && text[i] >= 'A' && text[i] <= 'Z'; };
  if (is_capital(0) && !is_capital(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string title(StepId step, Language language) {
  const StepName& name = name_of(step);
  if (!is_gradient(step)) return say(language, name.title);
  return name.of ? say(language, phrase::gradient_of, within(name_of(*name.of).title, language))
                 : say(language, phrase::gradient_of_parameter, name.symbol.substr(1));
}

std::string symbol(StepId step, std::optional<Index> number) {
  const std::string symbol(name_of(step).symbol);
  return number ? symbol + "⁽" + superscript(*number) + "⁾" : symbol;
}

std::string symbol(const Scene& scene, ValueId id, Place place, bool transposed) {
  const Value& value = scene.plan.value(id);
  if (const std::optional<int> before = layers_before(scene, value))
    return (value.gradient == Value::Gradient::none ? "X" : "dX") + subscript(*before) + (transposed ? "ᵀ" : "");
  const std::string symbol =
      value.mask < 0 ? value.symbol
                     : mask_title(scene.problem.masks[static_cast<std::size_t>(value.mask)].kind, scene.options.language);
  return symbol + head_mark(scene, value, place.head) + (transposed ? "ᵀ" : "");
}

std::string entry(const Scene& scene, ValueId id, Place place, EntryAt at) {
  const Value& value = scene.plan.value(id);
  const std::string name = symbol(scene, id, place);
  if (value.role == Value::Role::constant && (value.shape.size() == 1 || name == "1")) return name;
  if (is_one_row_for_all(scene.plan, value)) return fmt::format("{}[{}]", name, scene.counted(at.column));
  return fmt::format("{}[{},{}]", name, scene.counted(at.row), scene.counted(at.column));
}

std::string full_entry(const Scene& scene, ValueId id, Place place, EntryAt at) {
  const Value& value = scene.plan.value(id);
  const Value& of = value.gradient == Value::Gradient::none ? value : scene.plan.value(value.of);
  const bool named = scene.is_stack() && of.role != Value::Role::input && !(of.step && is_of_no_layer(*of.step));
  return (named ? fmt::format("layer{}.", scene.counted(value.layer)) : "") + entry(scene, id, place, at);
}

std::string part_name(const Scene& scene, ValueId id, std::optional<std::size_t> part) {
  const Value::Role role = scene.plan.value(id).role;
  const std::size_t parts = scene.options.parts.size();
  if (parts == 0 || role == Value::Role::weight || role == Value::Role::bias) return "";
  return fmt::format("step{}.{}", part.value_or(parts - 1) + 1, role == Value::Role::cache ? "cache." : "");
}

std::string typed_name(const Scene& scene, ValueId id, Place place, std::optional<std::size_t> part) {
  const Value& value = scene.plan.value(id);
  const bool of_layer =
      scene.is_stack() && value.role != Value::Role::input && !(value.step && is_of_no_layer(*value.step));
  std::string name = part_name(scene, id, part) + (of_layer ? fmt::format("layer{}.", scene.counted(value.layer)) : "");
  if (scene.whole.batched && value.shape.batch > 1) name = fmt::format("item{}.", scene.counted(place.item)) + name;
  if (value.role == Value::Role::constant) name += "constant.";  // a loss's G beside the gate's
  name += value.mask < 0 ? value.symbol : fmt::format("mask{}", scene.counted(value.mask));
  const Index heads = scene.problem.heads, own = value.shape.heads;
  return value.per_head && own > 0
             ? fmt::format("{}{}", name, scene.counted(own_head(scene, id, place.head) * (heads / own)))
             : name;
}

std::string cells_name_of(const Scene& scene, ValueId id, Place place) {
  const Value& value = scene.plan.value(id);
  const bool is_parameter = value.role == Value::Role::weight || value.role == Value::Role::bias;
  const bool is_gradient = value.gradient != Value::Gradient::none;
  const std::optional<StepId> row = is_gradient ? row_of_gradient(scene.plan, value) : value.step;
  const bool is_named = row || (!is_gradient && (is_parameter || value.role == Value::Role::input));
  if (!is_named || value.symbol.front() < 0 || scene.whole.batched || !scene.plan.past.empty()) return {};
  const Index first = own_head(scene, id, place.head) * (scene.problem.heads / std::max<Index>(value.shape.heads, 1));
  const std::string head = value.per_head ? fmt::format("{}", first + 1) : "";
  const bool of_layer = scene.is_stack() && (row ? !is_of_no_layer(*row) : is_parameter);
  return (of_layer ? fmt::format("layer{}.", value.layer + 1) : "") + (row ? cells_name(*row, head) : value.symbol + head);
}

std::string numpy_name(std::string typed) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> spelled{{{"Z̃", "Z_capped"},
                                                                                  {"Q̃", "Q_rot"},
                                                                                  {"K̃", "K_rot"},
                                                                                  {"′", "_mlp"},
                                                                                  {"*", "_final"},
                                                                                  {"γ", "gamma"},
                                                                                  {"β", "beta"},
                                                                                  {".", "_"}}};
  for (const auto& [sign, spelling] : spelled)
    if (const std::size_t at = typed.find(sign); at != std::string::npos) typed.replace(at, sign.size(), spelling);
  return typed;
}

std::string mask_title(Mask::Kind kind, Language language) {
  if (language == Language::en) return std::string(mask_name(kind));
  switch (kind) {
    case Mask::Kind::none: return "无掩码";
    case Mask::Kind::causal: return "因果掩码";
    case Mask::Kind::window: return "窗口掩码";
    case Mask::Kind::padding: return "填充掩码";
    case Mask::Kind::allow: return "允许掩码";
    case Mask::Kind::block: return "屏蔽掩码";
    case Mask::Kind::add: return "加性掩码";
    case Mask::Kind::alibi: return "ALiBi";
  }
  return {};
}

std::optional<Scaling> scaling_of(const Scene& scene, const Step& step) {
  if (step.op != Op::multiply) return std::nullopt;
  const Value& factor = scene.plan.value(step.in[1]);
  if (factor.role != Value::Role::constant || factor.shape.size() != 1) return std::nullopt;
  const double number = factor.constant->data()[0];
  const NumberStyle style(scene.options.precision, NumberStyle::Origin::given);
  if (factor.symbol == "scale")
    return Scaling{"×", "scale", number < 0 ? "(" + full_text(number) + ")" : full_text(number)};
  if (factor.symbol.rfind("1/", 0) != 0) return Scaling{"×", factor.symbol, style.text(number)};
  const std::string name = factor.symbol.substr(2);
  const bool is_root = name.rfind("√", 0) == 0;  // of a whole number
  return Scaling{"/", name, is_root ? fmt::format("√{}", std::round(1 / (number * number))) : style.text(1 / number)};
}

std::string sign_before(const Step& step, std::size_t operand) {
  const std::string_view sign = info_of(step.op).sign;
  if (sign.empty()) return ",";
  return operand == 1 ? std::string(sign) : "+";
}

std::string sign_before_result(const Step& step) {
  const OpInfo info = info_of(step.op);
  return info.sign.empty() && info.row_wise && !info.moves ? "→" : "=";
}

std::string formula(const Scene& scene, const Step& step, Place place) {
  return symbol(scene, step.out, place) + " = " + right_side(scene, step, place);
}

namespace {

std::string norms_text(const Scene& scene) {
  const Problem& problem = scene.problem;
  const std::optional<NormRule>& norm = problem.norm ? problem.norm : problem.mlp_norm;
  if (!norm) return "";
  const Text& kind = norm->rule.kind == Norm::Kind::layer ? phrase::layer_norm : phrase::rms_norm;
  return say(scene.options.language, problem.is_post_norm() ? phrase::post_norm : phrase::pre_norm,
             kind.in(scene.options.language));
}

std::string mlp_text(const Scene& scene) {
  if (!scene.problem.mlp) return "";
  const Mlp& mlp = *scene.problem.mlp;
  return say(scene.options.language, mlp.gate ? phrase::gated_mlp : phrase::mlp, scene.problem.mlp_width(),
             activation_names[static_cast<std::size_t>(mlp.activation)]);
}

}  // namespace

std::string rule_text(const Scene& scene, Op op) {
  const Problem& problem = scene.problem;
  switch (op) {
    case Op::rotate: return problem.rope ? rope_text(scene, *problem.rope) : "";
    case Op::multiply: return scale_text(scene, problem.scale);
    case Op::softcap:
      return problem.softcap ? say(scene.options.language, {"softcap {}", "软截断 {}"}, full_text(*problem.softcap)) : "";
    case Op::add: return masks_text(problem, scene.options.language);
    case Op::product:
    case Op::split:
    case Op::softmax:
    case Op::merge:
    case Op::copy:
    case Op::difference:
    case Op::slope:
    case Op::norm_slope:
    case Op::sum:
    case Op::reshape:
    case Op::pool: return "";
    case Op::norm: return norms_text(scene);
    case Op::activation: return mlp_text(scene);
  }
  return "";
}

std::string shape_arithmetic(const Scene& scene, const Step& step) {
  const Shape &from = scene.plan.value(step.in[0]).shape, &to = scene.plan.value(step.out).shape;
  const OpInfo info = info_of(step.op);
  const std::string text = size_text(from);
  if (step.op == Op::split)
    return fmt::format("{} → {}×{}×{} → {}×{}", text, to.rows, to.heads, to.cols, to.heads, size_text(to));
  if (step.op == Op::merge)
    return fmt::format("{}×{} → {}×{}×{} → {}", from.heads, text, from.rows, from.heads, from.cols, size_text(to));
  if (!info.row_wise) return whole_size_text(from) + " → " + whole_size_text(to);
  if (!info.sums || info.sign.empty()) return text + " → " + size_text(to);
  const auto size = [&](std::size_t i) {
    return size_text(scene.plan.value(step.in[i]).shape, is_used_transposed(step, i));
  };
  return between_signs(step, size) + " → " + size_text(to);
}

std::string split_columns(const Scene& scene, const Step& step, Index head) {
  const Shape& to = scene.plan.value(step.out).shape;
  const Index own = own_head(scene, step.out, head), base = scene.options.index_base;
  const auto column = [&](Index c) { return column_of(step.arrangement, own, to.heads, c, to.cols); };
  if (step.arrangement != Arrangement::interleaved) return range_text(column(0), column(to.cols - 1), base);
  return listed(to.cols, say(scene.options.language, phrase::comma),
                [&](Index c) { return fmt::format("{}", scene.counted(column(c))); });
}

Index kv_head(const Problem& problem, Index head) {
  return broadcast(head, problem.kv_heads, problem.heads);
}

}  // namespace mha::show
