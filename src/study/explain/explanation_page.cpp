// Tells explanations as a page: the step once, then each entry with its sum, then where its numbers come from.
#include "study/explain/explain.hpp"

#include <set>

#include "show/pages/page.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"

namespace mha::study {
namespace {

constexpr Text before_text{"explained above", "见上"};
constexpr Text numbers_header{"numbers", "代入"};
constexpr Text value_header{"value", "值"};
constexpr Text sum_header{"sum so far", "累计"};
constexpr Text how_header{"how", "由来"};

constexpr std::size_t first_terms = 24, last_terms = 4;  // of a long sum

// "X[1,1]·W_Q⁽¹⁾[1,1] + … = 1·1 + … = 2.000 / 5.000": all of a derivation but the value.
std::string on_one_line(const show::Work& work) {
  std::string text;
  for (std::size_t i = 0; i + 1 < work.lines.size(); ++i)
    text += (i == 0 ? "" : " " + work.lines[i].relation + " ") + work.lines[i].expression;
  return text;
}

class ExplanationPage {
 public:
  explicit ExplanationPage(const show::Scenes& layers)
      : layers_(layers), first_(layers.front()), page_(first_.options.language, first_.options.index_base) {}

  show::Document describe(const std::vector<ExplainedRange>& ranges) {
    page_.title({"Multi-head attention, entry by entry", "多头注意力，逐个元素"}, first_.whole.title);
    show::add_facts(layers_, page_);
    for (const ExplainedRange& explained : ranges) add_range(explained);
    return page_.take();
  }

 private:
  void add_range(const ExplainedRange& explained) {
    const Explanation& first = explained.entries.front();
    page_.section({name_of_range(explained)});
    add_step(first);
    bool sum_told = false;
    for (const Explanation& entry : explained.entries) {
      if (!entry.derivation) {
        page_.add(show::Work{entry.entry, {{"=", own_style(entry).text(entry.number), {}}}});
        continue;
      }
      page_.add(entry.derivation->work);
      const Step& step = *entry.derivation->step;
      const bool told_before =
          sum_told && info_of(step.op).shares != Shares::none && explained.range.row;  // one sum for all the row
      if (step.op != Op::add && !told_before) add_sum(*entry.derivation);
      sum_told = true;
      add_tree(entry);
    }
    if (tells_sources())
      for (const Explanation& entry : explained.entries) add_steps_behind(entry);
  }

  // Where every number says where it comes from, the matrices stand as well: those of the steps behind below.
  bool tells_sources() const { return first_.options.sources == show::PageOptions::Sources::works; }
  void add_steps_behind(const Explanation& root) {
    for (const Explanation& operand : root.operands) {
      if (operand.derivation && told_.count({operand.value, operand.place.head}) == 0) add_step(operand);
      add_steps_behind(operand);
    }
  }

  // "Y[2,1]", "A⁽¹⁾[2,*]"
  std::string name_of_range(const ExplainedRange& explained) const {
    const auto number = [&](const std::optional<Index>& i) { return i ? fmt::format("{}", page_.counted(*i)) : "*"; };
    const Explanation& first = explained.entries.front();
    if (explained.range.row && explained.range.column) return first.entry;
    const show::Scene& scene = show::scene_of(layers_, first.value);
    const bool named = scene.is_stack() && !is_of_no_layer(explained.range.step);
    return fmt::format("{}{}[{},{}]", named ? fmt::format("layer{}.", page_.counted(scene.layer)) : "",
                       symbol(scene, first.value, first.place), number(explained.range.row),
                       number(explained.range.column));
  }

  void add_step(const Explanation& entry) {
    const Step* const writer = first_.plan.writer_of(entry.value);
    const show::Scene& scene =
        writer != nullptr ? layers_[static_cast<std::size_t>(writer->layer)] : show::scene_of(layers_, entry.value);
    const Value& value = scene.plan.value(entry.value);
    told_.emplace(entry.value, entry.place.head);
    if (!entry.derivation) {
      const bool is_input = value.role == Value::Role::input;
      const std::string title = page_.say(is_input ? name_of(StepId::X).title : Text{"Parameter", "参数"});
      page_.add(show::StepHeading{std::nullopt, title, symbol(scene, entry.value, entry.place),
                                  fmt::format("{}×{}", value.shape.rows, value.shape.cols)});
      page_.caption({"given, not computed", "已知，不需计算"});
      if (tells_sources()) page_.add(show::Equation{{*labelled_matrix(scene, entry.value, entry.place)}});
      return;
    }
    const Step& step = *entry.derivation->step;
    const std::string title = show::title_of(scene, step, entry.place);
    page_.add(show::StepHeading{std::nullopt, title, entry.derivation->formula, show::shape_arithmetic(scene, step)});
    for (show::Words& caption : show::captions_of(scene, step, entry.place)) page_.caption(std::move(caption));
    if (tells_sources()) add_matrices(scene, step, entry.place, entry.at, page_);
  }

  show::NumberStyle own_style(const Explanation& entry) const {
    const bool computed = first_.plan.value(entry.value).role == Value::Role::step;
    return {first_.options.precision, computed ? show::NumberStyle::Origin::computed : show::NumberStyle::Origin::given};
  }

  void add_sum(const Derivation& derivation) {
    const std::vector<show::Summand>& summands = derivation.summands;
    if (summands.size() < 2) return;
    show::Table table{
        page_.header(Text{"term", "项"}, numbers_header, value_header, sum_header), {}, {false, false, true, true}, true};
    show::NumberStyle values(first_.options.precision, show::NumberStyle::Origin::computed), sums = values;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      values.see(summands[i].value);
      sums.see(derivation.sums[i]);
    }
    const bool whole = summands.size() <= first_terms + last_terms + 1;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      if (!whole && i == first_terms) {
        const std::size_t left_out = summands.size() - first_terms - last_terms;
        table.rows.push_back({page_.say({"… {} more", "… 另有 {} 项"}, left_out), {}, {}, {}});
        i += left_out;
      }
      table.rows.push_back(
          {summands[i].names, summands[i].numbers, values.text(summands[i].value), sums.text(derivation.sums[i])});
    }
    page_.add(std::move(table));
  }

  void add_tree(const Explanation& root) {
    show::Table table{page_.header(Text{"entry", "元素"}, value_header, how_header), {}, {false, true, false}, true};
    add_operands(root, "", table);
    if (table.rows.empty()) return;
    page_.caption({"Where these numbers come from:", "这些数的来历："});
    page_.add(std::move(table));
  }

  // What is given stands in the formula of the entry that reads it and has no row of its own.
  void add_operands(const Explanation& entry, const std::string& before, show::Table& table) const {
    std::vector<const Explanation*> computed;
    for (const Explanation& operand : entry.operands)
      if (operand.derivation || operand.explained_before) computed.push_back(&operand);
    for (const Explanation* operand : computed) {
      const bool last = operand == computed.back();
      const std::string how = operand->derivation ? on_one_line(operand->derivation->work) : page_.say(before_text);
      table.rows.push_back(
          {before + (last ? "└ " : "├ ") + operand->entry, own_style(*operand).text(operand->number), how});
      add_operands(*operand, before + (last ? "  " : "│ "), table);
    }
  }

  const show::Scenes& layers_;
  const show::Scene& first_;
  show::PageBuilder page_;
  std::set<std::pair<ValueId, Index>> told_;  // steps, by their result and head
};

}  // namespace

show::Document describe(const show::Scenes& layers, const std::vector<ExplainedRange>& ranges) {
  return ExplanationPage(layers).describe(ranges);
}

}  // namespace mha::study
