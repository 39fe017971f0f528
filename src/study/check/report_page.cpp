// Reports as a page.
#include "study/check/report_page.hpp"

#include <algorithm>
#include <map>

#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"
#include "study/check/comparison.hpp"

namespace mha::study {
namespace {

constexpr Text check_title{"Checked, step by step", "逐步批改"};
constexpr Text written_to{"tolerance from {} as written", "容许误差按所写的 {}"};
constexpr Text written_fully{"numbers in full precision", "数按完整精度书写"};
constexpr Text significant_digits{"{} significant digits", "{} 位有效数字"};
constexpr Text judged_as{"judged as {}", "按 {} 判定"};
constexpr Text asked_for{"tolerance as asked for", "按指定的容许误差"};
constexpr Text of_these{"{}: {}", "{}：{}"};
constexpr Text head_verdict{"head {}: {}", "头 {}：{}"};
constexpr Text given_here{"given", "答卷"};
constexpr Text expected_here{"expected", "应为"};
constexpr Text mark_legend{"* is not what follows from your own numbers before it", "* 与由你自己前面的数推出的结果不符"};
constexpr Text mistakes_header{"mistakes", "错误"};
constexpr Text count_header{"how many", "份数"};
constexpr Text all_answers{"All answers", "全部答卷"};
constexpr Text how_many_of_each{"{} right · {} incomplete · {} wrong · {} unusable",
                                "{} 份正确 · {} 份未完成 · {} 份错误 · {} 份无法评阅"};
constexpr Text item_shown{"item {}", "样本 {}"};

constexpr int most_decimals_told = 12, most_decimals_shown = 6;

class ReportPage {
 public:
  ReportPage(const Problem& problem, const show::PageOptions& options, std::optional<Hint> hint)
      : problem_(problem),
        options_(options),
        hint_(hint),
        words_(options.language, options.index_base, !hint),
        page_(options.language, options.index_base) {}

  show::Document write(const std::vector<Report>& reports) {
    page_.title(check_title, problem_.title);
    for (const Report& report : reports) {
      if (reports.size() > 1) page_.section({show::Words().quote(report.name)}, show::Section::Level::item);
      add(report, reports.size() > 1);
    }
    if (reports.size() > 1) add_summary(reports);
    return page_.take();
  }

 private:
  void add(const Report& report, bool named_above) {
    add_facts(report, named_above);
    if (hint_ && !report.unusable) {
      for (std::string& sentence : words_.hint(report, *hint_)) page_.paragraph(std::move(sentence));
    } else {
      page_.paragraph(words_.verdict(report));
      if (!report.steps.empty()) add_steps(report);
      for (const Finding& finding : report.findings) add(finding, report);
    }
    for (const Text& remark : report.remarks) page_.warning(remark);
    for (const std::string& key : report.unknown) page_.warning(show::Words().quote(key));
  }

  void add_facts(const Report& report, bool named_above) {
    show::Facts facts;
    if (!named_above) facts.parts.push_back(show::Words().quote(report.name));
    if (!report.unusable) {
      for (const Judged& judged : report.judged) facts.parts.push_back(form(judged, report));
      facts.parts.emplace_back(page_.say(show::phrase::counted_from, options_.index_base));
    }
    if (!facts.parts.empty()) page_.add(std::move(facts));
  }

  // Of most matrices without their names, of the others with them.
  std::string form(const Judged& judged, const Report& report) const {
    if (&judged == &report.judged.front()) return form(judged.form);
    std::string names;
    for (const auto& [step, head] : judged.matrices)
      names += (names.empty() ? "" : page_.say(show::phrase::comma)) +
               words_.symbol(step, name_of(step).per_head ? std::optional(head) : std::nullopt);
    return page_.say(of_these, names, form(judged.form));
  }

  std::string form(const NumberForm& form) const {
    if (form.absolute) return page_.say(asked_for);
    if (form.floats != nullptr) return page_.say(judged_as, form.floats->name);
    if (form.digits) return page_.say(written_to, page_.say(significant_digits, *form.digits));
    if (form.decimals > most_decimals_told) return page_.say(written_fully);
    return page_.say(written_to, show::decimals_text(page_.language(), form.decimals));
  }

  // One row for each step; heads with the same verdict are told together.
  void add_steps(const Report& report) {
    show::Table table;
    table.header = {page_.say(show::phrase::step), "", page_.say(show::phrase::verdict)};
    for (const StepName& name : step_names) {
      std::vector<const StepVerdict*> heads;
      for (const StepVerdict& step : report.steps)
        if (step.step == name.step) heads.push_back(&step);
      if (heads.empty() || (name.step == StepId::X && heads.front()->verdict == Verdict::not_given)) continue;
      table.rows.push_back({words_.title(name.step), std::string(name.symbol), verdicts(heads)});
    }
    page_.add(std::move(table));
  }

  std::string verdicts(const std::vector<const StepVerdict*>& heads) const {
    const auto same = [&](const StepVerdict* step) { return words_.verdict(*step) == words_.verdict(*heads.front()); };
    if (std::all_of(heads.begin(), heads.end(), same)) return words_.verdict(*heads.front());
    std::string text;
    for (const StepVerdict* step : heads)
      text += (text.empty() ? "" : page_.say(show::phrase::semicolon)) +
              page_.say(head_verdict, page_.counted(step->head.value_or(0)), words_.verdict(*step));
    return text;
  }

  void add(const Finding& finding, const Report& report) {
    show::StepHeading heading;
    heading.title = words_.title(finding.step);
    heading.formula =
        words_.symbol(finding.step, finding.of_one_head() ? std::optional(finding.heads.front()) : std::nullopt);
    page_.add(std::move(heading));
    page_.caption(words_.place(finding));
    for (std::string& cause : words_.causes(finding)) page_.warning(std::move(cause));
    page_.caption(words_.evidence(finding));
    add_matrices(finding, report);
  }

  // Of the item in which the first wrong entry stands.
  void add_matrices(const Finding& finding, const Report& report) {
    const std::vector<WrongEntry> wrong = wrong_entries(finding);
    const Index item = wrong.empty() ? 0 : wrong.front().item;
    const int precision = std::max(options_.precision, std::min(report.decimals, most_decimals_shown));
    const auto matrix = [&](const Tensor& tensor, Index head, const Text& symbol) {
      const show::NumberStyle style(precision, show::NumberStyle::Origin::computed);
      return show::View(tensor, item, head, style, options_.full).matrix(page_.say(symbol));
    };
    show::Equation equation{{matrix(finding.given.numbers, 0, given_here)}};
    show::Matrix& given = std::get<show::Matrix>(equation.parts.front());
    for (Index i = 0; i < given.rows.count(); ++i)
      for (Index j = 0; j < given.columns.count(); ++j) {
        const auto here = [&](const WrongEntry& entry) {
          return entry.item == item && entry.row == given.rows.place(i) && entry.col == given.columns.place(j);
        };
        if (std::none_of(wrong.begin(), wrong.end(), here)) continue;
        given.cells[static_cast<std::size_t>(i * given.columns.count() + j)].mark = show::Cell::Mark::wrong;
      }
    if (finding.heads.front() < finding.expected.numbers->shape().heads) {
      equation.parts.emplace_back(std::string("≠"));
      equation.parts.emplace_back(matrix(*finding.expected.numbers, finding.heads.front(), expected_here));
    }
    page_.add(std::move(equation));
    if (finding.given.numbers.shape().batch > 1) page_.caption(item_shown, page_.counted(item));
    if (!wrong.empty()) page_.caption(mark_legend);
  }

  void add_summary(const std::vector<Report>& reports) {
    page_.section({page_.say(all_answers)}, show::Section::Level::item);
    std::array<Index, 4> counts{};
    std::map<const Mistake*, Index> made;
    for (const Report& report : reports) {
      ++counts[report.unusable ? 3 : report.is_wrong() ? 2 : report.is_incomplete() ? 1 : 0];
      for (const Finding& finding : report.findings)
        if (!finding.suspects.empty()) ++made[finding.suspects.front().mistake];
    }
    page_.paragraph(how_many_of_each, counts[0], counts[1], counts[2], counts[3]);
    if (hint_ || made.empty()) return;
    show::Table table;
    table.header = {page_.say(count_header), page_.say(mistakes_header), ""};
    for (const auto& [mistake, count] : made)
      table.rows.push_back({std::to_string(count), std::string(mistake->id), page_.say(mistake->what)});
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      return std::stoll(a.front().spans().front().text) > std::stoll(b.front().spans().front().text);
    });
    page_.add(std::move(table));
  }

  const Problem& problem_;
  const show::PageOptions& options_;
  std::optional<Hint> hint_;
  ReportWords words_;
  show::PageBuilder page_;
};

}  // namespace

show::Document describe(const std::vector<Report>& reports, const Problem& problem, const show::PageOptions& options,
                        std::optional<Hint> hint) {
  return ReportPage(problem, options, hint).write(reports);
}

}  // namespace mha::study
