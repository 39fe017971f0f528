// What masks do, in words. Queries without a key are told in so few sentences that a thousand of them stay readable.
#include "show/pages/page_parts.hpp"

#include <map>

#include "core/utf8.hpp"
#include "show/words/notation.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

class MaskReason {
 public:
  MaskReason(const Scene& scene, Place place, Index query, Index key)
      : scene_(scene), place_(place), query_(query), key_(key) {}

  // Of a mask that adds `added`, which is not 0.
  Words of(const Mask& mask, double added) const {
    const Index shift = mask.align.value_or(Align{}).offset(place_.item, scene_.problem.queries(), scene_.problem.keys());
    const Past past = scene_.past();
    const Index stands_at = query_ + past.tokens - past.dropped + shift;
    switch (mask.kind) {
      case Mask::Kind::none: return {};
      case Mask::Kind::causal:
        return shift == 0 ? told(phrase::causal) : told(phrase::causal_shifted, scene_.counted(stands_at + past.dropped));
      case Mask::Kind::window:
        return key_ < stands_at ? told(phrase::window_left, stands_at - key_, mask.left.value_or(0))
                                : told(phrase::window_right, key_ - stands_at, mask.right.value_or(0));
      case Mask::Kind::padding: return told({"padding: {1} is no token", "填充：{1}不是真实词元"});
      case Mask::Kind::allow: return told({"the allow mask has 0 here", "允许掩码在此处为 0"});
      case Mask::Kind::block: return told({"the block mask has 1 here", "屏蔽掩码在此处为 1"});
      case Mask::Kind::add: return added == minus_infinity ? told(phrase::add) : Words();
      case Mask::Kind::alibi: {
        const Index distance = std::abs(key_ - stands_at);
        const NumberStyle slope(scene_.options.precision, NumberStyle::Origin::given);
        return told(phrase::alibi, slope.text(-added / static_cast<double>(distance)), distance);
      }
    }
    return {};
  }

 private:
  // {0} is the query, {1} the key, then the numbers.
  template <typename... Numbers>
  Words told(const Text& text, const Numbers&... numbers) const {
    return say_words(
        scene_.options.language, text,
        {query_name(scene_, place_.item, query_), key_name(scene_, place_.item, key_), fmt::format("{}", numbers)...});
  }

  const Scene& scene_;
  Place place_;
  Index query_, key_;
};

constexpr std::size_t most_names = 3;  // queries told by name; more are told by number
constexpr std::size_t most_items = 5;  // items of the batch with a sentence of their own

using Indices = std::vector<Index>;  // ascending

Words query_names(const Scene& scene, Index item, const Indices& queries) {
  if (queries.size() > most_names)
    return say(scene.options.language, phrase::queries,
               ranges_text(scene.options.language, queries, scene.options.index_base));
  Words words;
  for (const Index query : queries) {
    if (!words.empty()) words.add(say(scene.options.language, phrase::comma));
    words.append(query_name(scene, item, query));
  }
  return words;
}

Words keyless_sentence(const Scene& scene, Index item, const Indices& queries, const std::string& where) {
  return say_words(scene.options.language, phrase::no_key, {query_names(scene, item, queries), where});
}

// One sentence for all heads that have the same queries.
std::vector<Words> keyless_sentences(const Scene& scene, Index item, const std::map<Index, Indices>& by_head) {
  std::map<Indices, Indices> heads_of;
  for (const auto& [head, queries] : by_head) heads_of[queries].push_back(head);
  std::vector<Words> result;
  for (const auto& [queries, heads] : heads_of) {
    const bool in_all = static_cast<Index>(heads.size()) == scene.problem.heads;
    const Text phrase = heads.size() == 1 ? Text{" in head {}", "在头 {} 中"} : Text{" in heads {}", "在头 {} 中"};
    const std::string where =
        in_all ? ""
               : say(scene.options.language, phrase, ranges_text(scene.options.language, heads, scene.options.index_base));
    result.push_back(keyless_sentence(scene, item, queries, where));
  }
  return result;
}

std::string plain_text(const Words& words) {
  std::string text;
  for (const Span& span : words.spans()) text += span.quoted ? visible(span.text) : span.text;
  return text;
}

// Heads of the same queries, keys and values, in groups of two and more.
std::vector<Indices> heads_alike(const Problem& problem) {
  const auto Q = first_alike(problem.Q, problem.heads, problem.layout);
  const auto K = first_alike(problem.K, problem.kv_heads, problem.layout);
  const auto V = first_alike(problem.V, problem.kv_heads, problem.layout);
  std::map<std::array<Index, 3>, Indices> alike;
  for (Index head = 0; head < problem.heads; ++head) {
    const auto own = static_cast<std::size_t>(kv_head(problem, head));
    alike[{Q[static_cast<std::size_t>(head)], K[own], V[own]}].push_back(head);
  }
  std::vector<Indices> result;
  for (const auto& [first, heads] : alike)
    if (heads.size() > 1) result.push_back(heads);
  return result;
}

// "layer 2: " in a stack.
std::string layer_prefix(const Scene& scene) {
  return scene.is_stack() ? say(scene.options.language, phrase::in_layer, scene.counted(scene.layer)) : "";
}

bool is_no_mask(const Value& value) {
  if (value.role != Value::Role::mask) return false;
  std::vector<double> room;
  const auto adds = [](double number) { return number < std::numeric_limits<double>::infinity(); };
  for (Index i = 0; i < value.shape.batch * value.shape.heads * value.shape.rows; ++i)
    if (const double* row = value.constant->row(i, room); !std::all_of(row, row + value.shape.cols, adds)) return true;
  return false;
}

// Of the first step with such numbers, of those that were kept. −∞ belongs into masked scores, and nowhere else.
std::optional<std::string> overflow_warning(const Scenes& layers) {
  for (const Step& step : layers.front().plan.steps) {
    const Scene& scene = scene_of(layers, step.out);
    const Tensor* const numbers = scene.trace.value(step.out);
    if (numbers == nullptr) continue;
    const auto is_fine = [&](double x) { return std::isfinite(x) || (x < 0 && step.id == StepId::masked); };
    const double* const at = std::find_if_not(numbers->data(), numbers->data() + numbers->size(), is_fine);
    if (at == numbers->data() + numbers->size()) continue;
    const Shape& shape = numbers->shape();
    const Index matrix = (at - numbers->data()) / (shape.rows * shape.cols);
    const Place place = place_of_head(scene, step.out, matrix / shape.heads, matrix % shape.heads);
    const Language language = scene.options.language;
    if (std::any_of(scene.plan.values.begin(), scene.plan.values.end(), is_no_mask))
      return say(language,
                 {"an added mask holds NaN or ∞, which make masked scores and weights NaN: it may hold numbers and -inf",
                  "所加的掩码中有 NaN 或 ∞，会使掩码后的分数和权重成为 NaN：其中只能有数和 -inf"});
    if (step.op == Op::norm && step.norm.eps == 0)
      return say(
          language,
          {"{}{} {}: a row without spread is divided by 0, since eps is 0: give the norm an eps above 0, such as 1e-5",
           "{}{} {}：eps 为 0，没有波动的一行被 0 除：请给归一化一个大于 0 的 eps，例如 1e-5"},
          layer_prefix(scene), title_of(scene, step, place), symbol(scene, step.out, place));
    return say(language,
               {"{}{} {}: numbers pass what {} can hold and are infinite or NaN, as is what follows from them; use smaller "
                "ones in X or the weights",
                "{}{} {}：数超出了 {} 的范围，成为无穷大或 NaN，由它们得出的也是如此；请减小 X 或权重中的数"},
               layer_prefix(scene), title_of(scene, step, place), symbol(scene, step.out, place),
               dtype_name(scene.trace.dtype));
  }
  return std::nullopt;
}

std::vector<std::string> warnings(const Scene& scene) {
  const PageOptions& options = scene.options;
  std::map<Index, std::map<Index, Indices>> by_item;
  for (const Row& row : scene.keyless()) by_item[row.item][row.head].push_back(row.query);
  std::vector<std::string> result;
  std::size_t told = 0;
  for (const auto& [item, by_head] : by_item) {
    if (++told > most_items) {
      result.push_back(say(options.language, phrase::more_items, by_item.size() - most_items));
      break;
    }
    const Index number = scene.counted(options.chosen_item ? options.chosen_item->item : item);
    const std::string prefix = scene.problem.batched ? say(options.language, {"item {}: ", "样本 {}："}, number) : "";
    for (const Words& words : keyless_sentences(scene, item, by_head)) result.push_back(prefix + plain_text(words));
  }
  return result;
}

}  // namespace

Words mask_reason(const Scene& scene, const Step& step, Place place, Index query, Index key) {
  const Shape& onto = scene.plan.value(step.out).shape;
  const MaskReason reason(scene, place, query, key);
  Words words;
  std::vector<double> room;
  for (std::size_t i = 1; i < step.in.size(); ++i) {
    const Value& value = scene.plan.value(step.in[i]);
    if (value.mask < 0) continue;  // not a mask as the problem has it
    const double* row = value.constant->row(onto, place.item, own_head(scene, step.out, place.head), query, room);
    const double added = row[value.shape.cols == 1 ? 0 : key];
    if (added == 0) continue;
    const Words one = reason.of(scene.problem.masks[static_cast<std::size_t>(value.mask)], added);
    if (!words.empty() && !one.empty()) words.add(say(scene.options.language, phrase::semicolon));
    words.append(one);
  }
  return words;
}

Words keyless_warning(const Scene& scene, Place place) {
  const auto before = [&](const Row& row) { return std::pair(row.item, row.head) < std::pair(place.item, place.head); };
  auto row = std::partition_point(scene.keyless().begin(), scene.keyless().end(), before);
  Indices queries;
  for (; row != scene.keyless().end() && row->item == place.item && row->head == place.head; ++row)
    queries.push_back(row->query);
  return queries.empty() ? Words() : keyless_sentence(scene, place.item, queries, "");
}

std::vector<std::string> warnings(const Problem& problem, const Plan& plan, const Trace& trace,
                                  const PageOptions& options) {
  std::vector<std::string> result;
  const Scenes layers = scenes_of(problem, plan, trace, options);
  for (const Scene& scene : layers) {
    const std::string prefix = layer_prefix(scene);
    for (const std::string& warning : warnings(scene)) result.push_back(prefix + warning);
    for (const Indices& heads : heads_alike(scene.problem))
      result.push_back(prefix + say(options.language, phrase::same_heads,
                                    ranges_text(scene.options.language, heads, scene.options.index_base)));
  }
  if (auto warning = overflow_warning(layers)) result.push_back(std::move(*warning));
  return result;
}

}  // namespace mha::show
