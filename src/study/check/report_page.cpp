// Reports as a page.
#include "study/check/report_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"
#include "study/check/comparison.hpp"
#include "study/check/grading.hpp"

namespace mha::study {
namespace {

constexpr Text check_title{"Checked, step by step", "逐步批改"};
constexpr Text written_to{"tolerance from {} as written", "容许误差按所写的 {}"};
constexpr Text given_here{"given", "答卷"};
constexpr Text expected_here{"expected", "应为"};
constexpr Text mark_legend{"* is not what follows from your own numbers before it", "* 与由你自己前面的数推出的结果不符"};
constexpr Text mark_legend_first{"* is not what should stand here", "* 与应有的数不符"};
constexpr Text part_shown{"rows {} to {}, columns {} to {} of {}×{}", "{4}×{5} 中的第 {0} 到 {1} 行、第 {2} 到 {3} 列"};
constexpr Text largest_differences{"largest differences: {}", "各步的最大差：{}"};
constexpr Text count_header{"how many", "份数"};
constexpr Text first_step_header{"first wrong step", "最先出错的一步"};
constexpr Text name_header{"name", "姓名"};
constexpr Text score_header{"score", "得分"};
constexpr Text where_header{"first wrong step, likely mistake", "最先出错的一步、可能的错误"};

constexpr Index most_lines = 12;
constexpr int most_decimals_told = 12, most_decimals_shown = 6;

// Lines of a matrix: all of them, unless they are many and some are to be seen.
struct Range {
  Index begin, end;
  Index size = end;
  bool any = false;

  bool is_part() const { return count() < size; }
  Index count() const { return end - begin; }
  // With a neighbour on each side, and no more than `most_lines` in all from the first one on.
  void take_in(Index line) {
    if (size <= most_lines) return;
    const Index from = std::max<Index>(0, line - 1), to = std::min(size, line + 2);
    begin = any ? std::max(std::min(begin, from), end - most_lines) : from;
    end = any ? std::min(std::max(end, to), begin + most_lines) : to;
    any = true;
  }
};

class ReportPage {
 public:
  ReportPage(const Caption& problem, const show::PageOptions& options, std::optional<Hint> hint)
      : options_(options),
        hint_(hint),
        words_(options.language, options.index_base, !hint),
        page_(options.language, options.index_base) {
    page_.title(check_title, problem);
  }

  show::Document write(const std::vector<Report>& reports, bool as_class, Tell tell) {
    if (!as_class) {
      add(reports.front(), false);
      return page_.take();
    }
    add_summary(Summary(reports), reports.size());
    if (tell == Tell::nobody) return page_.take();
    add_names(reports);
    for (const Report& report : reports) {
      const bool is_plain = report.missing || ((report.is_right() || report.all_blank) && report.unknown.empty());
      if (is_plain && tell != Tell::everyone) continue;
      page_.section({show::Words().quote(report.name)}, show::Section::Level::item);
      add(report, true);
    }
    return page_.take();
  }

 private:
  void add(const Report& report, bool named_above) {
    add_facts(report, named_above);
    if (report.missing || report.unusable || report.all_blank) {
      page_.paragraph(words_.verdict(report));
    } else if (hint_) {
      for (std::string& sentence : words_.hint(report, *hint_)) page_.paragraph(std::move(sentence));
    } else {
      page_.paragraph(words_.verdict(report));
      if (report.layers == 1) add_layer(std::nullopt, report);
      for (int layer = 0; report.layers > 1 && layer < report.layers; ++layer) {
        page_.section({page_.say(show::phrase::layer_of, page_.counted(layer), report.layers)}, show::Section::Level::item);
        add_layer(layer, report);
      }
    }
    for (const Saying& remark : report.remarks) page_.warning(remark.in(page_.language()));
    for (const Saying& key : report.unknown) page_.warning(show::Words().quote(key.in(page_.language())));
  }

  void add_layer(std::optional<int> layer, const Report& report) {
    add_steps(report, layer);
    for (const Finding& finding : report.findings)
      if (finding.layer == layer) add(finding, report);
  }

  void add_facts(const Report& report, bool named_above) {
    show::Facts facts;
    if (!named_above) facts.parts.push_back(show::Words().quote(report.file));
    if (!report.unusable && !report.missing)
      facts.parts.emplace_back(page_.say({"{} of {} matrices given, score {} %", "给出 {1} 个矩阵中的 {0} 个，得分 {2}%"},
                                         report.given, report.of, percent(report)));
    if (!report.unusable && !report.missing && !report.all_blank) {
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
      names += (names.empty() ? "" : page_.say(show::phrase::comma)) + words_.symbol_in_layer(step, head);
    return page_.say({"{}: {}", "{}：{}"}, names, form(judged.form));
  }

  std::string form(const NumberForm& form) const {
    if (form.absolute) return page_.say({"tolerance as asked for", "按指定的容许误差"});
    if (form.floats != nullptr) return page_.say({"judged as {}", "按 {} 判定"}, form.floats->name);
    if (form.digits) return page_.say(written_to, page_.say({"{} significant digits", "{} 位有效数字"}, *form.digits));
    if (form.decimals == 0) return page_.say({"whole numbers, within 0.5", "整数，误差不超过 0.5"});
    if (form.decimals > most_decimals_told) return page_.say({"numbers in full precision", "数按完整精度书写"});
    return page_.say(written_to, show::decimals_text(page_.language(), form.decimals));
  }

  // One row for each step; heads with the same verdict are told together.
  void add_steps(const Report& report, std::optional<int> layer) {
    show::Table table;
    table.header = {page_.say(show::phrase::step), "", page_.say(show::phrase::verdict)};
    std::string differences;
    for (const StepName& name : row_names) {
      std::vector<const StepVerdict*> heads;
      for (const StepVerdict& step : report.steps)
        if (step.step == name.step && step.layer == layer) heads.push_back(&step);
      if (is_gradient(name.step) && !report.has_gradients()) break;
      if (heads.empty() || (name.step == StepId::X && heads.front()->verdict == Verdict::not_given)) continue;
      table.rows.push_back({words_.title(name.step), std::string(name.symbol), verdicts(heads)});
      if (const std::string largest = difference_text(heads); !largest.empty())
        differences += (differences.empty() ? "" : " · ") + fmt::format("{} {}", name.symbol, largest);
    }
    page_.add(std::move(table));
    const auto is_here = [&](const Finding& finding) { return finding.layer == layer; };
    if (std::any_of(report.findings.begin(), report.findings.end(), is_here) && !differences.empty())
      page_.caption(largest_differences, differences);
  }

  // From what follows from the person's own numbers, over all heads that were given and have the right shape.
  static std::string difference_text(const std::vector<const StepVerdict*>& heads) {
    double largest = -1;
    for (const StepVerdict* step : heads)
      if (step->verdict != Verdict::not_given && step->same_shape && !(step->max_difference <= largest))
        largest = step->max_difference;
    return largest < 0 ? "" : fmt::format("{:.2g}", largest);
  }

  std::string verdicts(const std::vector<const StepVerdict*>& heads) const {
    const auto same = [&](const StepVerdict* step) { return words_.verdict(*step) == words_.verdict(*heads.front()); };
    if (std::all_of(heads.begin(), heads.end(), same)) return words_.verdict(*heads.front());
    std::string text;
    for (const StepVerdict* step : heads)
      text += (text.empty() ? "" : page_.say(show::phrase::semicolon)) +
              page_.say({"head {}: {}", "头 {}：{}"}, page_.counted(step->head.value_or(0)), words_.verdict(*step));
    return text;
  }

  void add(const Finding& finding, const Report& report) {
    show::StepHeading heading;
    heading.title = words_.title(finding.step);
    heading.formula =
        words_.symbol(finding.step, finding.of_one_head() ? std::optional(finding.heads.front()) : std::nullopt);
    page_.add(std::move(heading));
    page_.caption(words_.place(finding));
    const auto told = [&](const Finding& other) {
      return !finding.suspects.empty() && !other.suspects.empty() && other.layer < finding.layer &&
             other.suspects.front().mistake == finding.suspects.front().mistake;
    };
    const auto earlier = std::find_if(report.findings.begin(), report.findings.end(), told);
    if (earlier != report.findings.end())
      page_.warning({"the same mistake as in layer {} ({})", "与第 {} 层的错误相同（{}）"}, page_.counted(*earlier->layer),
                    finding.suspects.front().mistake->id);
    else
      for (std::string& cause : words_.causes(finding)) page_.hint(std::move(cause));
    page_.caption(words_.evidence(finding));
    add_matrices(finding, report);
  }

  // Of the item in which the first wrong entry stands; of a large matrix what is around its wrong entries.
  void add_matrices(const Finding& finding, const Report& report) {
    const std::vector<Entry> wrong = wrong_entries(finding);
    const Index item = wrong.empty() ? 0 : wrong.front().item;
    const Shape& whole = finding.given.numbers.shape();
    Range rows{0, whole.rows}, columns{0, whole.cols};
    for (const Entry& entry : wrong) {
      if (options_.full || entry.item != item) continue;
      rows.take_in(entry.row);
      columns.take_in(entry.column);
    }
    const int precision = std::max(options_.precision, std::min(report.decimals, most_decimals_shown));
    const auto matrix = [&](const Tensor& tensor, Index head, const Text& symbol) {
      const show::NumberStyle style(precision, show::NumberStyle::Origin::computed);
      const bool cut = rows.is_part() || columns.is_part();
      if (!cut) return show::View(tensor, item, head, style, options_.full).matrix(page_.say(symbol));
      Tensor part({1, 1, rows.count(), columns.count()});
      for (Index i = 0; i < rows.count(); ++i)
        std::copy_n(tensor.matrix(item, head) + (rows.begin + i) * whole.cols + columns.begin, columns.count(),
                    part.matrix(0, 0) + i * columns.count());
      return show::View(part, 0, 0, style, true).matrix(page_.say(symbol));
    };
    show::Equation equation{{matrix(finding.given.numbers, 0, given_here)}};
    show::Matrix& given = std::get<show::Matrix>(equation.parts.front());
    for (Index i = 0; i < given.rows.count(); ++i)
      for (Index j = 0; j < given.columns.count(); ++j) {
        const auto here = [&](const Entry& entry) {
          return entry.item == item && entry.row == rows.begin + given.rows.place(i) &&
                 entry.column == columns.begin + given.columns.place(j);
        };
        show::Cell& cell = given.cells[static_cast<std::size_t>(i * given.columns.count() + j)];
        const Index row = item * whole.rows + rows.begin + given.rows.place(i);
        if (finding.given.is_blank(row * whole.cols + columns.begin + given.columns.place(j))) cell.text = "–";
        if (std::any_of(wrong.begin(), wrong.end(), here)) cell.mark = show::Cell::Mark::wrong;
      }
    if (finding.heads.front() < finding.expected.numbers->shape().heads) {
      equation.parts.emplace_back(std::string("≠"));
      equation.parts.emplace_back(matrix(*finding.expected.numbers, finding.heads.front(), expected_here));
    }
    page_.add(std::move(equation));
    if (rows.is_part() || columns.is_part())
      page_.caption(part_shown, page_.counted(rows.begin), page_.counted(rows.end - 1), page_.counted(columns.begin),
                    page_.counted(columns.end - 1), whole.rows, whole.cols);
    if (finding.given.numbers.shape().batch > 1) page_.caption({"item {}", "样本 {}"}, page_.counted(item));
    if (!wrong.empty()) page_.caption(finding.begins ? mark_legend_first : mark_legend);
  }

  void add_summary(const Summary& summary, std::size_t of) {
    page_.section({page_.say({"All answers", "全部答卷"})}, show::Section::Level::item);
    std::string counts;
    for (const AnswerVerdictName& name : answer_verdicts)
      counts += (counts.empty() ? "" : " · ") + page_.say({"{} {}", "{} 份{}"},
                                                          summary.answers[static_cast<std::size_t>(name.verdict)],
                                                          name.text.in(page_.language()));
    page_.paragraph(std::move(counts));
    show::Table steps{page_.header(count_header, first_step_header), {}, {true}, false, of};
    for (const auto& [step, count] : summary.steps)
      steps.rows.push_back(
          {std::to_string(count), words_.title(step.step) + " " + words_.symbol_in_layer(step, std::nullopt)});
    if (!steps.rows.empty()) page_.add(std::move(steps));
    if (!tells_mistakes() || summary.mistakes.empty()) return;
    show::Table mistakes{
        {page_.say(count_header), page_.say({"likely mistake there", "那里可能的错误"}), ""}, {}, {true}, false, of};
    for (const auto& [mistake, count] : summary.mistakes)
      mistakes.rows.push_back({std::to_string(count), mistake == nullptr ? "–" : std::string(mistake->id),
                               mistake == nullptr ? page_.say({"no known mistake", "没有已知的错误与之吻合"})
                                                  : in_layout(page_.say(mistake->what), summary.layout)});
    page_.add(std::move(mistakes));
  }

  // Of every answer one line.
  void add_names(const std::vector<Report>& reports) {
    show::Table table{page_.header(name_header, score_header, show::phrase::verdict, where_header), {}, {false, true}};
    for (const Report& report : reports) {
      const Finding* first = report.findings.empty() ? nullptr : &report.findings.front();
      std::string where = report.is_incomplete() ? words_.gaps(report)
                          : first == nullptr     ? ""
                                                 : words_.title_in_layer(*first);
      if (first != nullptr && tells_mistakes())
        where += page_.say(show::phrase::comma) +
                 (first->suspects.empty() ? "–" : std::string(first->suspects.front().mistake->id));
      table.rows.push_back({show::Words().quote(report.name), page_.say({"{} %", "{}%"}, percent(report)),
                            page_.say(name_of(report.verdict()).text), std::move(where)});
    }
    page_.add(std::move(table));
  }

  static long percent(const Report& report) { return std::lround(100 * report.score); }
  bool tells_mistakes() const { return !hint_ || *hint_ == Hint::mistake; }

  const show::PageOptions& options_;
  std::optional<Hint> hint_;
  ReportWords words_;
  show::PageBuilder page_;
};

}  // namespace

show::Document describe(const std::vector<Report>& reports, const Caption& problem, const show::PageOptions& options,
                        std::optional<Hint> hint, bool as_class, Tell tell) {
  const bool several = as_class || tell == Tell::nobody || reports.size() != 1;
  return ReportPage(problem, options, hint).write(reports, several, tell);
}

}  // namespace mha::study
