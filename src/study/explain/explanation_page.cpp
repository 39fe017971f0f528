// Tells explanations as a page: the step once, then each entry with its sum, then where its numbers come from.
#include "study/explain/explanation_page.hpp"

#include "show/pages/facts.hpp"
#include "show/words/notation.hpp"
#include "show/pages/step_captions.hpp"

namespace mha::study {
namespace {

constexpr Text title_text{"Multi-head attention, entry by entry", "多头注意力，逐个元素"};
constexpr Text given_text{"given, not computed", "已知，不需计算"};
constexpr Text behind_text{"Where these numbers come from:", "这些数的来历："};
constexpr Text before_text{"explained above", "见上"};
constexpr Text left_out_text{"… {} more", "… 另有 {} 项"};
constexpr std::array sum_header = {Text{"term", "项"}, Text{"numbers", "代入"}, Text{"value", "值"},
                                   Text{"sum so far", "累计"}};
constexpr std::array tree_header = {Text{"entry", "元素"}, Text{"value", "值"}, Text{"how", "由来"}};

constexpr std::size_t first_terms = 24, last_terms = 4;  // of a long sum

template <std::size_t size>
std::vector<std::string> header_in(Language language, const std::array<Text, size>& header) {
  std::vector<std::string> names;
  for (const Text& name : header) names.emplace_back(name.in(language));
  return names;
}

// "X[1,1]·W_Q⁽¹⁾[1,1] + … = 1·1 + … = 2.000 / 5.000": all of a derivation but the value.
std::string on_one_line(const show::Work& work) {
  std::string text;
  for (std::size_t i = 0; i + 1 < work.lines.size(); ++i)
    text += (i == 0 ? "" : " " + work.lines[i].relation + " ") + work.lines[i].expression;
  return text;
}

class ExplanationPage {
 public:
  explicit ExplanationPage(const show::Scene& scene) : scene_(scene), language_(scene.options.language) {
    document_.language = language_;
    document_.index_base = scene.options.index_base;
  }

  show::Document describe(const std::vector<ExplainedRange>& ranges) {
    show::Title title{{show::Words(std::string(title_text.in(language_)))}};
    if (const Caption& name = scene_.problem.title; !name.empty()) title.parts.push_back(show::Words().quote(name.in(language_)));
    add(std::move(title));
    add(show::facts_of(scene_));
    for (const ExplainedRange& explained : ranges) add_range(explained);
    return std::move(document_);
  }

 private:
  void add(show::Block block) { document_.blocks.push_back(std::move(block)); }
  void add_caption(show::Words text) {
    if (!text.empty()) add(show::Note{show::Note::Kind::caption, std::move(text)});
  }

  void add_range(const ExplainedRange& explained) {
    const Explanation& first = explained.entries.front();
    add(show::Section{show::Section::Level::head, {show::Words(name_of_range(explained))}});
    add_step(first);
    bool sum_told = false;
    for (const Explanation& entry : explained.entries) {
      if (!entry.derivation) {
        add(show::Work{entry.entry, {{"=", own_style(entry).text(entry.number), {}}}});
        continue;
      }
      add(entry.derivation->work);
      const Step& step = *entry.derivation->step;
      const bool told_before = sum_told && info_of(step.op).normalises && explained.range.row;  // one sum for all the row
      if (step.op != Op::add && !told_before) add_sum(*entry.derivation);
      sum_told = true;
      add_tree(entry);
    }
  }

  // "Y[2,1]", "A⁽¹⁾[2,*]"
  std::string name_of_range(const ExplainedRange& explained) const {
    const auto number = [&](const std::optional<Index>& i) { return i ? fmt::format("{}", scene_.counted(*i)) : "*"; };
    const Explanation& first = explained.entries.front();
    return fmt::format("{}[{},{}]", symbol(scene_, first.value, first.place), number(explained.range.row),
                       number(explained.range.column));
  }

  void add_step(const Explanation& entry) {
    const Value& value = scene_.plan.value(entry.value);
    const std::string title(name_of(*value.step).title.in(language_));
    if (!entry.derivation) {
      add(show::StepHeading{std::nullopt, title, value.symbol, fmt::format("{}×{}", value.shape.rows, value.shape.cols)});
      return add_caption(std::string(given_text.in(language_)));
    }
    const Step& step = *entry.derivation->step;
    add(show::StepHeading{std::nullopt, title, entry.derivation->formula, show::shape_arithmetic(scene_, step)});
    for (show::Words& caption : show::captions_of(scene_, step, entry.place)) add_caption(std::move(caption));
  }

  show::NumberStyle own_style(const Explanation& entry) const {
    const bool computed = scene_.plan.value(entry.value).role == Value::Role::step;
    return {scene_.options.precision, computed ? show::NumberStyle::Origin::computed : show::NumberStyle::Origin::given};
  }

  void add_sum(const Derivation& derivation) {
    const std::vector<show::Summand>& summands = derivation.summands;
    if (summands.size() < 2) return;
    show::Table table{header_in(language_, sum_header), {}, {false, false, true, true}, true};
    show::NumberStyle values(scene_.options.precision, show::NumberStyle::Origin::computed), sums = values;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      values.see(summands[i].value);
      sums.see(derivation.sums[i]);
    }
    const bool whole = summands.size() <= first_terms + last_terms + 1;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      if (!whole && i == first_terms) {
        const std::size_t left_out = summands.size() - first_terms - last_terms;
        table.rows.push_back({show::Words(show::say(language_, left_out_text, left_out)), {}, {}, {}});
        i += left_out;
      }
      table.rows.push_back({show::Words(summands[i].names), show::Words(summands[i].numbers), show::Words(values.text(summands[i].value)),
                            show::Words(sums.text(derivation.sums[i]))});
    }
    add(std::move(table));
  }

  void add_tree(const Explanation& root) {
    show::Table table{header_in(language_, tree_header), {}, {false, true, false}, true};
    add_operands(root, "", table);
    if (table.rows.empty()) return;
    add(show::Note{show::Note::Kind::caption, show::Words(std::string(behind_text.in(language_)))});
    add(std::move(table));
  }

  // What is given stands in the formula of the entry that reads it and has no row of its own.
  void add_operands(const Explanation& entry, const std::string& before, show::Table& table) const {
    std::vector<const Explanation*> computed;
    for (const Explanation& operand : entry.operands)
      if (operand.derivation || operand.explained_before) computed.push_back(&operand);
    for (const Explanation* operand : computed) {
      const bool last = operand == computed.back();
      const std::string how =
          operand->derivation ? on_one_line(operand->derivation->work) : std::string(before_text.in(language_));
      table.rows.push_back({show::Words(before + (last ? "└ " : "├ ") + operand->entry),
                            show::Words(own_style(*operand).text(operand->number)), show::Words(how)});
      add_operands(*operand, before + (last ? "  " : "│ "), table);
    }
  }

  const show::Scene& scene_;
  Language language_;
  show::Document document_;
};

}  // namespace

show::Document describe(const show::Scene& scene, const std::vector<ExplainedRange>& ranges) {
  return ExplanationPage(scene).describe(ranges);
}

}  // namespace mha::study
