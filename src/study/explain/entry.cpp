// Entries as people name them: the parts of the word first, then what they mean in this problem.
#include "study/explain/explain.hpp"

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/answer.hpp"

namespace mha::study {
namespace {

constexpr Text row_word = {"row", "行"};
constexpr Text column_word = {"column", "列"};
constexpr Text layer_word = {"layer", "层"};

constexpr Text entry_is = {"an entry is a matrix, its row and its column, such as Y[2,1] or A1[2,*] for a row",
                           "元素由矩阵、行和列组成，例如 Y[2,1]，或整行 A1[2,*]"};

// "layer2.A12[3,*]" as "2", "A", "12", "3", "*".
struct EntryParts {
  std::string_view layer, name, head, row, column;
};

template <typename... Parts>
[[noreturn]] void refuse(std::string_view text, const Text& why, const Parts&... parts) {
  throw Error({"'{}': {}", "'{}'：{}"}, text, say(why, parts...));
}

EntryParts parts_of(std::string_view text) {
  const std::size_t open = text.find('['), comma = text.find(',', open);
  const bool one_number = comma == std::string_view::npos;  // of a bias, γ or β
  if (open == std::string_view::npos || text.back() != ']') refuse(text, entry_is);
  std::string_view name = text.substr(0, open), layer;
  constexpr std::string_view prefix = "layer";
  if (const std::size_t dot = name.find('.');
      name.starts_with(prefix) && dot != std::string_view::npos && dot > prefix.size()) {
    layer = name.substr(prefix.size(), dot - prefix.size());
    name.remove_prefix(dot + 1);
  }
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (one_number)
    return {layer, name.substr(0, digits), name.substr(digits), {}, text.substr(open + 1, text.size() - open - 2)};
  return {layer, name.substr(0, digits), name.substr(digits), text.substr(open + 1, comma - open - 1),
          text.substr(comma + 1, text.size() - comma - 2)};
}

// As a person copies it from the page, "S⁽¹⁾[1, 2]", and as one types it, "S1[1,2]".
std::string as_typed(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> raised = {{{"⁽", ""},
                                                                                     {"⁾", ""},
                                                                                     {" ", ""},
                                                                                     {"⁰", "0"},
                                                                                     {"¹", "1"},
                                                                                     {"²", "2"},
                                                                                     {"³", "3"},
                                                                                     {"⁴", "4"},
                                                                                     {"⁵", "5"},
                                                                                     {"⁶", "6"},
                                                                                     {"⁷", "7"},
                                                                                     {"⁸", "8"},
                                                                                     {"⁹", "9"}}};
  std::string result(text);
  for (const auto& [from, to] : raised)
    for (std::size_t at = result.find(from); at != std::string::npos; at = result.find(from, at))
      result.replace(at, from.size(), to);
  return result;
}

// "W_Q", "mlp.W_1", "norm.gamma": a parameter as the problem file has it.
std::string key_of(const std::string& symbol) {
  for (const auto& [letter, name] : {std::pair("γ", "gamma"), std::pair("β", "beta")})
    if (symbol.starts_with(letter)) {
      const std::string_view mark = std::string_view(symbol).substr(std::string_view(letter).size());
      return fmt::format("{}norm.{}", mark == "′" ? "mlp_" : mark == "*" ? "final_" : "", name);
    }
  const bool of_mlp = symbol.ends_with("_1") || symbol.ends_with("_2") || symbol.ends_with("_gate");
  return (of_mlp ? "mlp." : "") + symbol;
}

class Meaning {
 public:
  Meaning(std::string_view text, const Problem& problem, const Plan& plan, Index base)
      : text_(text),
        parts_(parts_of(text)),
        whole_(problem),
        base_(base),
        layer_(layer()),
        problem_(problem.layer(layer_.value_or(0))),
        plan_(plan) {
    if (backward_) parts_.name.remove_prefix(1);
    if (problem_.fused && (parts_.name == "W_QKV" || parts_.name == "b_QKV")) cut_fused();
  }

  EntryRange range() const {
    if (const std::optional<EntryRange> given = given_range()) return *given;
    if (parts_.row.empty()) refuse(text_, entry_is);
    const StepId step = placed(this->step(), problem_.is_post_norm());
    if (!layer_ && !is_of_no_layer(step))
      refuse(text_,
             {"{} of which layer? Write layer{}.{}; this problem has {}", "是哪一层的 {}？请写 layer{}.{}；这道题有{}"},
             name_of(step).id, base_, text_, range_of(layer_word, whole_.layer_count()));
    const std::optional<ValueId> value = plan_.find(step, layer_.value_or(0));
    if (!value)
      refuse(text_, {"this problem has no step '{}'; its steps are {}", "这道题没有步骤 '{}'；它的步骤有 {}"},
             name_of(step).id, steps());
    EntryRange range{step, layer_.value_or(0), 0, {}, {}};
    if (backward_) range.value = plan_.gradient(*value);
    if (name_of(step).per_head) range.head = head(step);
    const Shape& shape = plan_.value(*value).shape;
    range.row = place(parts_.row, shape.rows, row_word, name_of(step).id, shape);
    range.column = place(parts_.column, shape.cols, column_word, name_of(step).id, shape);
    return range;
  }

 private:
  // W_QKV holds the columns of W_Q, then those of W_K, then those of W_V; stored out×in the rows.
  void cut_fused() {
    const bool by_row = problem_.layout == Layout::torch && parts_.name.front() == 'W';
    std::string_view& text = by_row ? parts_.row : parts_.column;
    const Index q = problem_.heads * problem_.d_k(), kv = problem_.kv_heads * problem_.d_k();
    const std::optional<Index> number = whole_number(text);
    if (!number || *number < base_ || *number >= q + 2 * kv + base_)
      refuse(text_,
             {"'{0}' is no {1} of {2}, which has {3}; for all of a matrix write {4}_Q, {4}_K or {4}_V",
              "'{0}' 不是 {2} 的{1}号，它有{3}；要整行或整列请写 {4}_Q、{4}_K 或 {4}_V"},
             text, by_row ? row_word : column_word, parts_.name, range_of(by_row ? row_word : column_word, q + 2 * kv),
             parts_.name.front());
    const Index at = *number - base_;
    const std::size_t part = at < q ? 0 : at < q + kv ? 1 : 2;
    own_name_ = {parts_.name.front(), '_', "QKV"[part]};
    own_number_ = std::to_string(at - (part == 0 ? 0 : part == 1 ? q : q + kv) + base_);
    parts_.name = own_name_;
    text = own_number_;
  }

  // The name of what is given, a parameter or X_kv, and backwards of dL/d of it, or of a part that the page names, "dX_K1",
  // "dV_head1"; none for all else.
  std::string name_of_given(const Value& value) const {
    if (backward_ != (value.gradient != Value::Gradient::none)) return "";
    const Value& of = backward_ ? plan_.value(value.of) : value;
    const bool is_input = of.role == Value::Role::input;
    if (value.gradient == Value::Gradient::part)
      return (of.step || is_input) && value.symbol.starts_with('d') ? value.symbol.substr(1) : "";
    const bool is_given = !of.step && (of.role == Value::Role::weight || of.role == Value::Role::bias || is_input);
    return is_given && (!backward_ || value.gradient == Value::Gradient::whole) ? key_of(of.symbol) : "";
  }

  // Nothing where the name is no such.
  std::optional<EntryRange> given_range() const {
    const std::string whole = std::string(parts_.name) + std::string(parts_.head);
    for (std::size_t id = 0; id < plan_.values.size(); ++id) {
      const Value& value = plan_.values[id];
      const std::string key = name_of_given(value);
      if (key.empty()) continue;
      const bool in_layer = layer_ ? value.layer == *layer_ : key.starts_with("final_norm");
      if (!in_layer || !whole.starts_with(key)) continue;
      const std::string number_text = whole.substr(key.size());
      const std::optional<Index> number = whole_number(number_text);
      if (!number_text.empty() && (!number || !value.per_head)) continue;
      const bool is_part = value.gradient == Value::Gradient::part;
      if (is_part && number_text.empty() && value.per_head) continue;  // what is summed over the heads has the same name
      const Index own = number.value_or(base_) - base_, heads = value.shape.heads;
      if (own < 0 || own >= heads || (number_text.empty() && heads > 1))
        refuse(text_, {"{} of which head? This problem has {}", "是哪个头的 {}？这道题有{}"}, key,
               range_of({"head", "头"}, heads));
      const Step* const writer = plan_.writer_of(static_cast<ValueId>(id));
      EntryRange range{writer != nullptr ? writer->id : StepId::Q,
                       value.layer,
                       own * (problem_.heads / heads),
                       {},
                       {},
                       static_cast<ValueId>(id)};
      range.row = parts_.row.empty() && value.shape.rows == 1
                      ? std::optional<Index>(0)
                      : place(parts_.row, value.shape.rows, row_word, key, value.shape);
      range.column = place(parts_.column, value.shape.cols, column_word, key, value.shape);
      return range;
    }
    return std::nullopt;
  }

  // Nothing where a stack's was not said.
  std::optional<int> layer() const {
    const Index count = whole_.layer_count();
    if (parts_.layer.empty()) return whole_.layers.empty() ? std::optional(0) : std::nullopt;
    const std::optional<Index> number = whole_number(parts_.layer);
    if (!number || *number < base_ || *number >= count + base_)
      refuse(text_, {"there is no layer {}; this problem has {}", "没有第 {} 层；这道题有{}"}, parts_.layer,
             range_of(layer_word, count));
    return static_cast<int>(*number - base_);
  }

  // A matrix of all heads has no number: "Q" is then the packed one, if there is one.
  StepId step() const {
    const std::optional<StepId> packed = io::packed_step(parts_.name), of_head = io::head_step(parts_.name);
    if (parts_.head.empty() && packed && problem_.packed) return *packed;
    if (of_head) return *of_head;
    if (!parts_.head.empty())  // H1 is head 1, H the hidden layer
      if (const auto in_answer = io::answer_name(std::string(parts_.name) + "1", false); in_answer && in_answer->head)
        return in_answer->step;
    const std::optional<io::MatrixName> whole = io::matrix_name(parts_.name);
    if (!whole) {
      const std::vector<std::string> known = io::known_matrix_names();
      const std::string name = std::string(parts_.name) + std::string(parts_.head);
      refuse(text_, {"no step is called '{}'.{}", "没有叫 '{}' 的步骤。{}"}, name,
             did_you_mean_or_known(name, std::vector<std::string_view>(known.begin(), known.end())));
    }
    const StepName& name = name_of(whole->step);
    if (!parts_.head.empty())
      refuse(text_, {"{} belongs to all heads; write {}[{},{}]", "{} 属于所有头；请写 {}[{},{}]"}, name.id, parts_.name,
             parts_.row, parts_.column);
    return whole->step;
  }

  Index head(StepId step) const {
    const Index heads = problem_.heads;
    if (parts_.head.empty() && heads == 1) return 0;
    const Saying valid = range_of({"head", "头"}, heads);
    if (parts_.head.empty())
      refuse(text_,
             {"{} of which head? Write {}{}[{},{}]; this problem has {}", "{} 是哪个头的？请写 {}{}[{},{}]；这道题有{}"},
             name_of(step).id, parts_.name, base_, parts_.row, parts_.column, valid);
    const std::optional<Index> number = whole_number(parts_.head);
    if (!number || *number < base_ || *number >= heads + base_)
      refuse(text_, {"there is no head {}; this problem has {}", "没有头 {}；这道题有{}"}, parts_.head, valid);
    return *number - base_;
  }

  std::optional<Index> place(std::string_view number_text, Index count, const Text& what, std::string_view name,
                             const Shape& shape) const {
    if (number_text == "*") return std::nullopt;
    const std::optional<Index> number = whole_number(number_text);
    if (!number)
      refuse(text_, {"'{}' is no {}; write a number, or * for all", "'{}' 不是{}号；请写数字，或用 * 表示全部"},
             number_text, what);
    if (*number < base_ || *number >= count + base_)
      refuse(text_, {"there is no {0} {1}; {2} has {3} and {4}", "没有第 {1} {0}；{2} 有{3}、{4}"}, what, *number, name,
             range_of(row_word, shape.rows), range_of(column_word, shape.cols));
    return *number - base_;
  }

  // "rows 1 to 3"
  Saying range_of(const Text& what, Index count) const {
    const Saying range = count == 1 ? say({"{} {} alone", "{} {}"}, what, base_)
                                    : say({"{}s {} to {}", "{} {} 至 {}"}, what, base_, count + base_ - 1);
    return what.en == row_word.en ? range : say({"{}, counted from {}", "{}（从 {} 开始编号）"}, range, base_);
  }

  Saying steps() const {
    std::vector<std::string_view> ids;
    for (const StepName& name : step_names)
      if (plan_.find(name.step, layer_.value_or(0))) ids.push_back(name.id);
    return listed(ids);
  }

  std::string_view text_;
  EntryParts parts_;
  bool backward_ = names_gradient(text_);
  std::string own_name_, own_number_;  // of the part of W_QKV that is meant
  const Problem& whole_;
  Index base_;
  std::optional<int> layer_;
  const Problem& problem_;  // of that layer
  const Plan& plan_;
};

}  // namespace

bool looks_like_entry(std::string_view text) {
  const std::size_t open = text.find('[');
  return open != std::string_view::npos && open > 0 &&
         (text.back() == ']' || text.find_first_not_of("0123456789*, ", open + 1) == std::string_view::npos);
}

bool names_gradient(std::string_view text) {
  if (text.starts_with("layer")) text.remove_prefix(std::min(text.find('.'), text.size() - 1) + 1);
  return text.starts_with('d');
}

EntryRange parse_entry(std::string_view text, const Problem& problem, const Plan& plan, Index base) {
  const std::string plain = as_typed(text);
  return Meaning(plain, problem, plan, base).range();
}

}  // namespace mha::study
