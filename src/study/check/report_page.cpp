// Reports as a page.
#include "study/check/report_page.hpp"

#include <algorithm>
#include <map>

#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"
#include "study/check/comparison.hpp"

namespace mha::study {
namespace {

constexpr Text check_title{"Checked, step by step", "逐步批改"};
constexpr Text written_to{"tolerance from {} as written", "误差按所写的 {}"};
constexpr Text written_fully{"numbers in full precision", "数按完整精度书写"};
constexpr Text step_header{"step", "步骤"};
constexpr Text verdict_header{"verdict", "判断"};
constexpr Text head_verdict{"head {}: {}", "头 {}：{}"};
constexpr Text given_here{"given", "给出的"};
constexpr Text expected_here{"expected", "应为"};
constexpr Text mark_legend{"* is not what follows from your own numbers before it", "* 与由你自己前面的数推出的结果不符"};
constexpr Text mistakes_header{"mistakes", "错误"};
constexpr Text count_header{"how many", "次数"};
constexpr Text all_answers{"All answers", "全部答案"};
constexpr Text right_wrong_unusable{"{} right · {} wrong · {} unusable", "{} 份正确 · {} 份有错 · {} 份无法读取"};
constexpr Text item_shown{"item {}", "样本 {}"};

constexpr int most_decimals_told = 12, most_decimals_shown = 6;
constexpr Index most_entries = 1000, edge = 3;  // larger matrices are elided, as on the pages of run

show::Shown shown(Index size, bool whole) {
  return whole || size <= 2 * edge ? show::Shown{size, size, 0} : show::Shown{size, edge, edge};
}

class Page {
 public:
  Page(const Problem& problem, const show::PageOptions& options, std::optional<Hint> hint)
      : problem_(problem),
        options_(options),
        hint_(hint),
        language_(options.language),
        words_(options.language, options.index_base, !hint) {
    page_.language = options.language;
    page_.index_base = options.index_base;
  }

  show::Document write(const std::vector<Report>& reports) {
    std::vector<show::Words> parts{show::Words(show::say(language_, check_title))};
    if (!problem_.title.empty()) parts.push_back(show::Words().quote(problem_.title.in(language_)));
    page_.blocks.emplace_back(show::Title{std::move(parts)});
    for (const Report& report : reports) {
      if (reports.size() > 1) page_.blocks.emplace_back(show::Section{show::Section::Level::item, {show::Words().quote(report.name)}});
      add(report, reports.size() > 1);
    }
    if (reports.size() > 1) add_summary(reports);
    return std::move(page_);
  }

 private:
  void paragraph(show::Words words) { page_.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, std::move(words)}); }
  void caption(std::string text) { page_.blocks.emplace_back(show::Note{show::Note::Kind::caption, show::Words(std::move(text))}); }
  void warning(std::string text) { page_.blocks.emplace_back(show::Note{show::Note::Kind::warning, show::Words(std::move(text))}); }

  void add(const Report& report, bool named_above) {
    add_facts(report, named_above);
    if (hint_ && !report.unusable) {
      for (std::string& sentence : words_.hint(report, *hint_)) paragraph(std::move(sentence));
    } else {
      paragraph(words_.verdict(report));
      if (!report.steps.empty()) add_steps(report);
      for (const Finding& finding : report.findings) add(finding, report);
    }
    for (const Text& remark : report.remarks) warning(std::string(remark.in(language_)));
    for (const std::string& key : report.unknown) page_.blocks.emplace_back(show::Note{show::Note::Kind::warning, show::Words().quote(key)});
  }

  void add_facts(const Report& report, bool named_above) {
    show::Facts facts;
    if (!named_above) facts.parts.push_back(show::Words().quote(report.name));
    if (!report.unusable) {
      facts.parts.emplace_back(writing(report.decimals));
      facts.parts.emplace_back(show::say(language_, show::phrase::counted_from, options_.index_base));
    }
    if (!facts.parts.empty()) page_.blocks.emplace_back(std::move(facts));
  }

  std::string writing(int decimals) const {
    if (decimals > most_decimals_told) return show::say(language_, written_fully);
    const Text& count = decimals == 1 ? show::phrase::one_decimal : show::phrase::decimals;
    return show::say(language_, written_to, show::say(language_, count, decimals));
  }

  // One row for each step; heads with the same verdict are told together.
  void add_steps(const Report& report) {
    show::Table table;
    table.header = {show::say(language_, step_header), "", show::say(language_, verdict_header)};
    for (const StepName& name : step_names) {
      std::vector<const StepVerdict*> heads;
      for (const StepVerdict& step : report.steps)
        if (step.step == name.step) heads.push_back(&step);
      if (heads.empty() || (name.step == StepId::X && heads.front()->verdict == Verdict::not_given)) continue;
      table.rows.push_back({show::Words(words_.title(name.step)), show::Words(std::string(name.symbol)), show::Words(verdicts(heads))});
    }
    page_.blocks.emplace_back(std::move(table));
  }

  std::string verdicts(const std::vector<const StepVerdict*>& heads) const {
    const auto same = [&](const StepVerdict* step) { return words_.verdict(*step) == words_.verdict(*heads.front()); };
    if (std::all_of(heads.begin(), heads.end(), same)) return words_.verdict(*heads.front());
    std::string text;
    for (const StepVerdict* step : heads)
      text += (text.empty() ? "" : show::say(language_, show::phrase::semicolon)) +
              show::say(language_, head_verdict, step->head.value_or(0) + options_.index_base, words_.verdict(*step));
    return text;
  }

  void add(const Finding& finding, const Report& report) {
    show::StepHeading heading;
    heading.title = words_.title(finding.step);
    heading.formula =
        words_.symbol(finding.step, finding.of_one_head() ? std::optional(finding.heads.front()) : std::nullopt);
    page_.blocks.emplace_back(std::move(heading));
    caption(words_.place(finding));
    for (std::string& cause : words_.causes(finding)) warning(std::move(cause));
    if (const std::string evidence = words_.evidence(finding); !evidence.empty()) caption(evidence);
    add_matrices(finding, report);
  }

  // Of the item in which the first wrong entry stands.
  void add_matrices(const Finding& finding, const Report& report) {
    const std::vector<WrongEntry> wrong = wrong_entries(finding);
    const Index item = wrong.empty() ? 0 : wrong.front().item;
    const int precision = std::max(options_.precision, std::min(report.decimals, most_decimals_shown));
    show::Equation equation;
    equation.parts.emplace_back(matrix(finding.given.numbers, item, 0, precision, show::say(language_, given_here)));
    show::Matrix& given = std::get<show::Matrix>(equation.parts.back());
    for (Index i = 0; i < given.rows.count(); ++i)
      for (Index j = 0; j < given.columns.count(); ++j) {
        const auto here = [&](const WrongEntry& entry) {
          return entry.item == item && entry.row == given.rows.place(i) && entry.col == given.columns.place(j);
        };
        if (std::none_of(wrong.begin(), wrong.end(), here)) continue;
        show::Cell& cell = given.cells[static_cast<std::size_t>(i * given.columns.count() + j)];
        cell.mark = show::Cell::Mark::wrong;
        cell.text += "*";
      }
    if (finding.heads.front() < finding.expected.numbers->shape().heads) {
      equation.parts.emplace_back(std::string("≠"));
      equation.parts.emplace_back(
          matrix(*finding.expected.numbers, item, finding.heads.front(), precision, show::say(language_, expected_here)));
    }
    page_.blocks.emplace_back(std::move(equation));
    if (finding.given.numbers.shape().batch > 1) caption(show::say(language_, item_shown, item + options_.index_base));
    if (!wrong.empty()) caption(show::say(language_, mark_legend));
  }

  show::Matrix matrix(const Tensor& tensor, Index item, Index head, int precision, std::string symbol) const {
    const Shape& shape = tensor.shape();
    const bool whole = options_.full || shape.rows * shape.cols <= most_entries;
    show::Matrix result;
    result.symbol = std::move(symbol);
    result.rows = shown(shape.rows, whole);
    result.columns = shown(shape.cols, whole);
    show::NumberStyle style(precision, show::NumberStyle::Origin::computed);
    const auto each = [&](const auto& look) {
      for (Index i = 0; i < result.rows.count(); ++i)
        for (Index j = 0; j < result.columns.count(); ++j)
          look(tensor.at(item, head, result.rows.place(i), result.columns.place(j)));
    };
    each([&](double number) { style.see(number); });
    each([&](double number) { result.cells.push_back({style.text(number), show::Cell::Mark::none, -1}); });
    return result;
  }

  void add_summary(const std::vector<Report>& reports) {
    page_.blocks.emplace_back(show::Section{show::Section::Level::item, {show::Words(show::say(language_, all_answers))}});
    std::array<Index, 3> counts{};
    std::map<const Mistake*, Index> made;
    for (const Report& report : reports) {
      ++counts[report.unusable ? 2 : report.is_right() ? 0 : 1];
      for (const Finding& finding : report.findings)
        if (!finding.suspects.empty()) ++made[finding.suspects.front().mistake];
    }
    paragraph(show::say(language_, right_wrong_unusable, counts[0], counts[1], counts[2]));
    if (hint_ || made.empty()) return;
    show::Table table;
    table.header = {show::say(language_, count_header), show::say(language_, mistakes_header), ""};
    for (const auto& [mistake, count] : made)
      table.rows.push_back(
          {show::Words(std::to_string(count)), show::Words(std::string(mistake->id)), show::Words(std::string(mistake->what.in(language_)))});
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      return std::stoll(a.front().spans().front().text) > std::stoll(b.front().spans().front().text);
    });
    page_.blocks.emplace_back(std::move(table));
  }

  const Problem& problem_;
  const show::PageOptions& options_;
  std::optional<Hint> hint_;
  Language language_;
  ReportWords words_;
  show::Document page_;
};

}  // namespace

show::Document describe(const std::vector<Report>& reports, const Problem& problem, const show::PageOptions& options,
                  std::optional<Hint> hint) {
  return Page(problem, options, hint).write(reports);
}

}  // namespace mha::study
