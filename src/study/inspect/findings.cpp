// What the numbers of a layer say, each finding in a sentence with its numbers and its limits.
#include <map>

#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"
#include "study/inspect/inspect.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

namespace {

constexpr double nearly_nothing = 0.01;  // of the largest entry of W_O
constexpr double mostly = 0.5;           // of a row's weights

constexpr FindingKind fits("concat_fits", true,
                           "Split and concatenation fit: h·d_v = {0}·{1} = {2} {4} of W_O, whose result is {3} wide",
                           "拆分与拼接相合：h·d_v = {0}·{1} = {2} 列对应 W_O 的 {2} 行，结果宽 {3}", "d_model is {0}",
                           "d_model 为 {0}");
constexpr FindingKind identity("output_identity", true, "W_O is the identity", "W_O 是单位矩阵", "largest difference {0}",
                               "最大差 {0}", "The heads are not mixed here; what follows may do it.",
                               "各头在这里没有混合；后面的计算可以混合它们。");
constexpr FindingKind no_identity("output_not_identity", true, "W_O is not the identity", "W_O 不是单位矩阵",
                                  "largest difference {0}", "最大差 {0}");
constexpr FindingKind small_part("output_part_small", true, "The rows of W_O that read head {0} are nearly 0",
                                 "W_O 中读取头 {0} 的各行接近 0", "at most {0} of its largest entry",
                                 "至多为其最大元素的 {0}",
                                 "Large values could make up for it: see what is lost without the head.",
                                 "较大的值可以弥补：请看去掉这个头后损失多少。");
constexpr FindingKind copies_of("projections_same", true, "Heads {0} have the same {1}", "头 {0} 的 {1} 相同", "", "",
                                "It is a copy: what starts and is trained alike stays alike.",
                                "这是复制：起点相同、训练也相同的头会一直相同。");
constexpr FindingKind copies_in_groups(
    "projections_same", true, "Heads {0} have the same {1}", "头 {0} 的 {1} 相同", "", "",
    "Groups share keys and values on purpose; else it is a copy: what starts and is trained alike stays alike.",
    "分组时本来就共用键和值；否则就是复制：起点相同、训练也相同的头会一直相同。");
constexpr FindingKind no_copies("projections_differ", true, "No two heads have the same W_Q, W_K or W_V",
                                "没有两个头的 W_Q、W_K 或 W_V 相同", "", "");
constexpr FindingKind equal_maps(
    "maps_equal", false, "Heads {0} have the same weights", "头 {0} 的注意力权重相同", "largest difference {0}",
    "最大差 {0}",
    "Equal over all inputs, not over one alone, means projections that are not separated, a wrong split, or no "
    "division of labour learnt; the values of such heads may still differ.",
    "如果不只是一个输入、而是所有输入都如此，就是投影没有分开、拆分有误，或没有学到分工；这些头的值仍可能不同。");
constexpr FindingKind unequal_maps(
    "maps_differ", false, "No two heads have the same weights", "没有两个头的注意力权重相同",
    "the closest pair differs by up to {0}", "最接近的一对最大差 {0}",
    "Different maps do not make a better model, and heads with similar maps may differ in their values.",
    "权重不同，模型未必更好；权重相近的头，值也可能不同。");
constexpr FindingKind spread("spread", false, "How far head {0} spreads its weights", "头 {0} 的权重有多分散",
                             "entropy {0} nats of at most {1}{2}", "熵 {0} 奈特，至多 {1}{2}");
constexpr FindingKind no_number("not_a_number", false, "The weights of head {0} are not a number",
                                "头 {0} 的注意力权重不是数", "", "",
                                "Numbers before them pass what f64 can hold, so nothing can be read from them; use smaller "
                                "ones in X or the weights.",
                                "前面的数超出了 f64 的范围，因此无法解读；请减小 X 或权重矩阵中的数。");
constexpr FindingKind looks_at("looks_at", false, "Head {0} looks mostly at {1}", "头 {0} 主要看{1}", "mean weight {0}",
                               "平均权重 {0}", "That is a reader's reading of this input, not a goal of the training.",
                               "这是读者对这一输入的解读，不是训练的目标。");
constexpr FindingKind most_lost(
    "ablation", false, "Most is lost{0}", "去掉{0}损失最大", "an entry of Y changes by up to {0}, Y by {1} of its size",
    "Y 的元素至多改变 {0}，Y 的相对改变为 {1}",
    "So it is for this input and these weights; what a head is worth, ablation on validation data decides.",
    "这只对这一输入和这些权重矩阵成立；一个头值多少，要由验证数据上的消融来定。");

class FindingsOfLayer {
 public:
  FindingsOfLayer(const LayerLook& look, const show::PageOptions& options)
      : look_(look), problem_(*look.layer), options_(options) {}

  std::vector<LayerFinding> take() {
    add_output();
    std::map<std::vector<Index>, std::vector<std::string_view>> copies;
    for (const std::string_view name : {"W_Q", "W_K", "W_V"})
      for (const std::vector<Index>& heads : groups([&](const PairLook& pair) {
             return std::count(pair.same_projections.begin(), pair.same_projections.end(), name) > 0;
           }))
        copies[heads].push_back(name);
    for (const auto& [heads, names] : copies)
      add(problem_.kv_heads < problem_.heads && names.back() != "W_Q" ? copies_in_groups : copies_of, {}, list(heads),
          fmt::to_string(fmt::join(names, say(options_.language, show::phrase::comma))));
    if (copies.empty() && problem_.heads > 1) add(no_copies, {});
    add_maps();
    for (std::size_t head = 0; head < look_.heads.size(); ++head) add_head(head);
    add_loss();
    return std::move(found_);
  }

 private:
  template <typename... Parts>
  void add(const FindingKind& kind, const std::vector<double>& numbers, const Parts&... parts) {
    found_.push_back({&kind, say(options_.language, kind.claim, parts...), {}});
    for (const double number : numbers) found_.back().numbers.push_back({number, number});
  }

  // "1, 2": heads as the person counts.
  std::string list(const std::vector<Index>& heads) const {
    std::vector<Index> counted = heads;
    for (Index& head : counted) head += options_.index_base;
    return fmt::to_string(fmt::join(counted, say(options_.language, show::phrase::comma)));
  }

  // The heads that are alike, in groups of two and more.
  template <typename Alike>
  std::vector<std::vector<Index>> groups(Alike alike) const {
    std::vector<std::vector<Index>> groups;
    std::vector<bool> told(look_.heads.size(), false);
    for (const PairLook& pair : look_.pairs) {
      if (told[static_cast<std::size_t>(pair.second)] || !alike(pair)) continue;
      told[static_cast<std::size_t>(pair.second)] = true;
      if (groups.empty() || groups.back().front() != pair.first) groups.push_back({pair.first});
      groups.back().push_back(pair.second);
    }
    return groups;
  }

  void add_output() {
    const Index width = problem_.heads * problem_.d_v(), d_out = problem_.d_out();
    const std::string meeting = width == 1 ? "column meets 1 row" : fmt::format("columns meet {} rows", width);
    add(fits, {static_cast<double>(problem_.d_model())}, problem_.heads, problem_.d_v(), width, d_out, meeting);
    double difference = 0;
    if (!problem_.output_is_concat && d_out == width)
      for_each_entry(problem_.O.W.shape(), [&](const Entry& entry) {
        difference = std::max(difference, std::abs(problem_.O.W.at(entry) - (entry.row == entry.column ? 1 : 0)));
      });
    if (d_out == width) add(difference <= same_number ? identity : no_identity, {difference});
    for (std::size_t head = 0; head < look_.heads.size(); ++head)
      if (const double part = look_.heads[head].part_of_W_O; part < nearly_nothing)
        add(small_part, {part}, list({static_cast<Index>(head)}));
  }

  void add_maps() {
    Measured closest;
    bool known = true;
    for (const auto& [a, b, difference, same] : look_.pairs) {
      const bool is_number = difference && !std::isnan(*difference);
      known = known && (is_number || !difference);
      if (is_number) closest = std::min(closest.value_or(*difference), *difference);
    }
    if (known && closest > same_number) add(unequal_maps, {*closest});
    for (const std::vector<Index>& heads :
         groups([](const PairLook& pair) { return pair.weights_difference && *pair.weights_difference <= same_number; }))
      add(equal_maps, {*closest}, list(heads));
  }

  void add_head(std::size_t head) {
    const auto& measured = look_.heads[head].measured;
    const std::string name = list({static_cast<Index>(head)});
    if (measured[entropy] && std::isnan(*measured[entropy]))
      add(no_number, {}, name);
    else if (measured[entropy])
      add(spread, {*measured[entropy], *look_.heads[head].most_entropy}, name);
    constexpr std::array<std::pair<Measure, Text>, 3> places = {{{self, {"the token itself", "词元自己"}},
                                                                 {previous, {"the previous token", "前一个词元"}},
                                                                 {first_key, {"the first token", "第一个词元"}}}};
    const auto& [most, what] = *std::max_element(
        places.begin(), places.end(), [&](const auto& a, const auto& b) { return measured[a.first] < measured[b.first]; });
    if (measured[most] > mostly) add(looks_at, {*measured[most]}, name, what);
  }

  void add_loss() {
    const auto lost = [](const HeadLook& look) { return look.measured[relative_change].value_or(0); };
    const auto less = [&](const HeadLook& a, const HeadLook& b) { return lost(a) < lost(b); };
    const auto most = std::max_element(look_.heads.begin(), look_.heads.end(), less);
    std::vector<Index> alike;
    for (const HeadLook& look : look_.heads)
      if (lost(look) >= lost(*most) * (1 - same_number)) alike.push_back(&look - look_.heads.data());
    if (look_.heads.size() > 1 && lost(*most) > 0)
      add(most_lost, {*most->measured[largest_change], lost(*most)},
          say(options_.language,
              alike.size() > 1 ? Text{", and equally much, without each of heads {}", "头 {} 中的任何一个，同样"}
                               : Text{" without head {}", "头 {} "},
              list(alike)));
  }

  const LayerLook& look_;
  const Problem& problem_;
  const show::PageOptions& options_;
  std::vector<LayerFinding> found_;
};

}  // namespace

std::vector<LayerFinding> findings_of(const LayerLook& look, const show::PageOptions& options) {
  return FindingsOfLayer(look, options).take();
}

std::string sentence_of(const LayerFinding& finding, const show::PageOptions& options) {
  const show::NumberStyle style(options.precision, show::NumberStyle::Origin::computed);
  std::array<std::string, 3> texts;
  for (std::size_t i = 0; i < finding.numbers.size(); ++i) {
    const std::string least = style.text(finding.numbers[i][0]), largest = style.text(finding.numbers[i][1]);
    texts[i] = least == largest ? least : say(options.language, {"{} to {}", "{} 到 {}"}, least, largest);
    const double keys = std::exp(finding.numbers[i][1]);
    if (least == largest && std::abs(keys - std::round(keys)) < same_number) texts[2] = fmt::format(" = ln {:.0f}", keys);
  }
  const FindingKind& kind = *finding.kind;
  std::string sentence = finding.claim;
  if (!finding.numbers.empty())
    sentence += say(options.language, {": {}", "：{}"}, say(kind.numbers, texts[0], texts[1], texts[2]));
  sentence += say(options.language, {".", "。"});
  if (!kind.limits.en.empty())
    sentence += (options.language == Language::en ? " " : "") + say(options.language, kind.limits);
  return sentence;
}

}  // namespace mha::study
