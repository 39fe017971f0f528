// Writes a page as HTML: one function for each kind of block, and the data from which page.js answers questions.
#include "show/writers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/utf8.hpp"
#include "show/html/mathml.hpp"
#include "show/html/page_files.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

// What page.js says, by the names it knows.
struct PageWord {
  std::string_view name;
  Text text;
};
constexpr std::array page_captions = {
    PageWord{"exact", {"exactly", "精确值"}},
    PageWord{"from", {"from", "来自"}},
    PageWord{"into", {"goes into", "用于"}},
    PageWord{"given", {"given, not computed", "已知，不需计算"}},
    PageWord{"copy", {"copy", "复制"}},
    PageWord{"copied", {"copied", "已复制"}},
    PageWord{"part", {"a part of it is shown here; --full shows all", "这里只显示一部分；--full 显示全部"}},
    PageWord{"close", {"close", "关闭"}},
};
constexpr Text help_text{
    "Point at a number, or walk with Tab and the arrow keys: the numbers that it comes from light up, and the "
    "panel spells it out.",
    "指向任何一个数，或用 Tab 和方向键移动：它所来自的数会亮起，面板写出算式。"};
constexpr Text maps_title{"Weights of all heads", "所有头的注意力权重"};
constexpr Text maps_text{"a row is a query, a column a key; the darker, the more weight; hatched: hidden by the mask",
                         "行是查询，列是键；颜色越深权重越大；斜线：被掩码遮住"};
constexpr Text hint_title{"Hint", "提示"};
constexpr Text step_by_step{"One step at a time", "逐步显示"};
constexpr Text previous_step{"previous step", "上一步"};
constexpr Text next_step{"next step", "下一步"};
constexpr Text step_title{"step", "步骤"};
constexpr Text heads_title{"heads", "头"};
constexpr Text all_heads{"all", "全部"};
constexpr Text decimals_title{"decimals", "小数位数"};
constexpr Text as_written{"as written", "原样"};
constexpr Text exactly_text{"exact", "精确"};
constexpr Text heat_title{"Shades", "底色"};
constexpr Text lines_title{"Lines", "连线"};
constexpr Text dark_title{"Dark", "深色"};
constexpr Text language_name{"English", "中文"};
constexpr Text contents_title{"Contents", "目录"};
constexpr Text tools_title{"View", "显示"};

constexpr int heat_steps = 9;

// As a Content-Security-Policy names it, from hexadecimal digits.
std::string base64_of(std::string_view hex) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  unsigned bits = 0, count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    count += 4;
    for (; count >= 6; count -= 6) result += digits[bits >> (count - 6) & 63];
  }
  if (count > 0) result += digits[bits << (6 - count) & 63];
  return result.append((4 - result.size() % 4) % 4, '=');
}

class HtmlWriter {
 public:
  explicit HtmlWriter(const Document& document, std::string prefix = "") : document_(document), prefix_(std::move(prefix)) {
    int sections = 0;
    for (const Document& other : document.translation) translation_ = std::make_unique<HtmlWriter>(other, "t.");
    for (const Block& block : document.blocks)
      if (const auto* section = std::get_if<Section>(&block)) {
        ++sections;
        if (section->level != Section::Level::item) continue;
        head_level_ = 3;
        links_.emplace(section->parts.front().plain(), fmt::format("{}s{}", prefix_, sections));
      }
  }

  std::string write() {
    write_blocks();
    if (translation_) translation_->write_blocks();
    return head() +
           fmt::format("<body class=\"mha-page\"><div class=\"mha\" lang=\"{}\"><header class=\"top\">", language()) +
           of_each(&HtmlWriter::top) + bar() + "</header>\n<main>" + of_each(&HtmlWriter::content) + "</main>\n" + foot();
  }

 private:
  void write_blocks() {
    for (const Block& block : document_.blocks) std::visit([this](const auto& content) { write(content); }, block);
    close_section();
  }

  // In both languages, of which the script shows one.
  std::string of_each(std::string (HtmlWriter::*part)() const) const {
    if (!translation_) return (this->*part)();
    const auto in = [&](const HtmlWriter& writer) {
      return fmt::format("<div lang=\"{}\">{}</div>\n", writer.language(), (writer.*part)());
    };
    return in(*this) + in(*translation_);
  }
  std::string of_both(const Text& text) const {
    if (!translation_) return own(text);
    return fmt::format("<span lang=\"{}\">{}</span><span lang=\"{}\">{}</span>", language(), own(text),
                       translation_->language(), translation_->own(text));
  }
  std::string attribute(const Text& text) const { return html_escaped(say(document_, text)); }
  std::string_view language() const { return document_.language == Language::zh ? "zh-CN" : "en"; }

  template <typename... Parts>
  std::string own(const Text& text, const Parts&... parts) const {
    return html_escaped(say(document_.language, text, parts...));
  }

  static std::string words(const Words& words) {
    std::string result;
    for (const Span& span : words.spans())
      result += span.quoted ? "<bdi>" + html_escaped(visible(span.text)) + "</bdi>" : html_escaped(span.text);
    return result;
  }
  static std::string joined(const std::vector<Words>& parts) {
    std::string result;
    for (const Words& part : parts) result += (result.empty() ? "" : " · ") + words(part);
    return result;
  }

  // What stands before the first section or step is the page's introduction.
  std::string& out() { return sections_ + steps_ == 0 ? before_ : body_; }

  void close_step() {
    if (in_step_) body_ += "</article>\n";
    in_step_ = false;
  }
  void close_section() {
    close_step();
    if (in_section_) body_ += "</section>\n";
    in_section_ = false;
  }

  void write(const Title& title) { title_ = joined(title.parts); }

  void write(const Facts& facts) {
    if (facts_.empty() && sections_ == 0)
      facts_ = joined(facts.parts);
    else
      out() += "<p class=\"facts\">" + joined(facts.parts) + "</p>\n";
  }

  void write(const Section& section) {
    close_section();
    const std::string id = fmt::format("{}s{}", prefix_, ++sections_), text = joined(section.parts);
    const int level = level_ = section.level == Section::Level::item ? 2 : head_level_;
    body_ += fmt::format("<section id=\"{0}\"><h{1}>{2}</h{1}>\n", id, level, text);
    const bool repeats = level > 2 && section.parts.size() > 1 && words(section.parts.front()) == item_;  // "Layer 1 of 2"
    if (section.level == Section::Level::item) item_ = words(section.parts.front());
    if (!led_to_.contains(id))
      contents_ += fmt::format("<a href=\"#{}\">{}</a>", id, words(section.parts[repeats ? 1 : 0]));
    section_ = level == 2 || repeats || item_.empty() ? text : item_ + " · " + text;
    in_section_ = true;
  }

  void write(const StepHeading& step) {
    close_step();
    const std::string number = step.number ? fmt::format("<span class=\"n\">{}</span> ", *step.number) : "";
    body_ +=
        fmt::format("<article class=\"step\" id=\"{5}t{0}\"><header><h{1}>{2}{3}</h{1}> <span class=\"formula\">{4}</span>",
                    ++steps_, level_ + 1, number, html_escaped(step.title), mathml(step.formula), prefix_);
    if (!step.shapes.empty()) body_ += " <span class=\"shape\">" + html_escaped(step.shapes) + "</span>";
    body_ += "</header>\n";
    in_step_ = true;
  }

  void write(const Note& note) {
    switch (note.kind) {
      case Note::Kind::paragraph: out() += "<p>" + words(note.text) + "</p>\n"; return;
      case Note::Kind::caption: out() += "<p class=\"cap\">" + words(note.text) + "</p>\n"; return;
      case Note::Kind::hint:
        out() += fmt::format("<details><summary>{}</summary><p class=\"warning\">{}</p></details>\n", own(hint_title),
                             words(note.text));
        return;
      case Note::Kind::warning: out() += "<p class=\"warning\">" + words(note.text) + "</p>\n"; return;
    }
  }

  void write(const Work& work) {
    std::string text = "<b>" + html_escaped(work.entry) + "</b>";
    for (const Work::Line& line : work.lines) {
      text += fmt::format(" <span class=\"line\">{} {}</span>", html_escaped(line.relation), html_escaped(line.expression));
      if (!line.remark.empty()) text += " <span class=\"remark\">" + words(line.remark) + "</span>";
    }
    out() += "<p class=\"work\">" + text + "</p>\n";
  }

  void write(const Table& table) {
    const auto kind = [&](std::size_t i) {
      return i < table.numeric.size() && table.numeric[i] ? " class=\"number\"" : "";
    };
    std::string text = "<div class=\"wide\"><table class=\"list\">";
    if (!table.header.empty()) {
      text += "<thead><tr>";
      for (std::size_t i = 0; i < table.header.size(); ++i)
        text += table.header[i].empty()
                    ? "<td></td>"
                    : fmt::format("<th scope=\"col\"{}>{}</th>", kind(i), html_escaped(table.header[i]));
      text += "</tr></thead>";
    }
    text += "<tbody>";
    for (const std::vector<Words>& row : table.rows) {
      text += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i)
        text += fmt::format("<td{}>{}{}</td>", kind(i), linked(row[i]), i == 0 ? bar(table, row[i].plain()) : "");
      text += "</tr>\n";
    }
    out() += text + "</tbody></table></div>\n";
  }

  // A name in a table leads to the section that is called so.
  std::string linked(const Words& cell) {
    const bool is_name = cell.spans().size() == 1 && cell.spans().front().quoted;
    const auto found = is_name ? links_.find(cell.plain()) : links_.end();
    if (found == links_.end()) return words(cell);
    led_to_.insert(found->second);
    return fmt::format("<a href=\"#{}\">{}</a>", found->second, words(cell));
  }
  static std::string bar(const Table& table, const std::string& count) {
    if (table.out_of == 0) return "";
    return fmt::format(" <meter max=\"{0}\" value=\"{1}\" aria-label=\"{1} / {0}\"></meter>", table.out_of, count);
  }

  void write(const Equation& equation) {
    std::string text = "<div class=\"eq\">";
    const std::vector<std::string>* labels = nullptr;
    for (const Equation::Part& part : equation.parts) {
      if (const auto* sign = std::get_if<std::string>(&part)) {
        text += "<span class=\"op\">" + html_escaped(*sign) + "</span>";
        continue;
      }
      const Matrix& matrix = std::get<Matrix>(part);
      text += figure(matrix, labels == nullptr || *labels != matrix.row_labels, true);
      if (labels == nullptr) labels = &matrix.row_labels;
      remember(matrix);
    }
    if (const auto* result = std::get_if<Matrix>(&equation.parts.back()); result != nullptr && !result->row_sums.empty())
      maps_ += fmt::format("<div class=\"map\"><span>{}</span>{}</div>", section_, figure(*result, true, false));
    out() += text + "</div>\n";
  }

  // The data of a matrix are those of its first appearance; of one that a step computes, those with its works.
  void remember(const Matrix& matrix) {
    if (!matrix.sources || matrix.sources->to_be_filled_in()) return;
    const auto [known, is_new] = matrices_.emplace(matrix.sources->name, &matrix);
    if (!is_new && known->second->sources->works.empty()) known->second = &matrix;
  }

  std::string figure(const Matrix& matrix, bool row_labels, bool is_in_step) {
    std::string attributes = fmt::format(" aria-label=\"{}\"", html_escaped(matrix.symbol));
    if (matrix.sources && !matrix.sources->to_be_filled_in()) {
      attributes += fmt::format(" data-m=\"{}\"{}", html_escaped(matrix.sources->name), matrix.transposed ? " data-t" : "");
      if (is_in_step && ids_.insert(matrix.sources->name).second)
        attributes += fmt::format(" id=\"{}{}\"", prefix_, html_escaped(matrix.sources->name));
    }
    const bool labelled = row_labels && !matrix.row_labels.empty();
    std::string text =
        "<figure><figcaption>" + mathml(matrix.symbol) + "</figcaption><table class=\"m\"" + attributes + ">";
    text += header(matrix, labelled) + "<tbody>\n";
    for (Index line = 0; line < matrix.rows.drawn(); ++line) text += row(matrix, matrix.rows.shown_at(line), labelled);
    return text + "</tbody></table></figure>";
  }

  // Labels of the columns, or the heads to which they belong.
  std::string header(const Matrix& matrix, bool labelled) const {
    std::string cells;
    if (!matrix.column_labels.empty())
      for (Index line = 0; line < matrix.columns.drawn(); ++line) {
        const std::optional<Index> shown = matrix.columns.shown_at(line);
        cells += shown ? label("col", matrix.column_labels[static_cast<std::size_t>(*shown)]) : "<th>⋯</th>";
      }
    else if (matrix.columns.all())
      for (const ColumnGroup& group : matrix.groups)
        cells += fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", group.columns, mathml(group.label));
    if (cells.empty()) return "";
    return "<thead><tr>" + std::string(labelled ? "<td></td>" : "") + cells + "</tr></thead>";
  }

  static std::string label(std::string_view scope, const std::string& text) {
    return fmt::format("<th scope=\"{}\"><bdi>{}</bdi></th>", scope, html_escaped(visible(text)));
  }

  std::string row(const Matrix& matrix, std::optional<Index> shown, bool labelled) const {
    std::string text = shown ? "<tr>" : "<tr class=\"gap\">";
    if (labelled) text += shown ? label("row", matrix.row_labels[static_cast<std::size_t>(*shown)]) : "<th></th>";
    for (Index line = 0; line < matrix.columns.drawn(); ++line) {
      const std::optional<Index> column = matrix.columns.shown_at(line);
      if (shown && column)
        text += cell(matrix.cell(*shown, *column), begins_group(matrix, *column));
      else
        text += shown ? "<th class=\"gap\">⋯</th>" : "<th>⋮</th>";
    }
    if (shown && !matrix.row_sums.empty())
      text += fmt::format("<th class=\"sum\">Σ {}</th>", matrix.row_sums[static_cast<std::size_t>(*shown)]);
    return text + "</tr>\n";
  }

  static bool begins_group(const Matrix& matrix, Index column) {
    Index start = 0;
    for (const ColumnGroup& group : matrix.groups) {
      if (matrix.columns.place(column) == start && start > 0) return true;
      start += group.columns;
    }
    return false;
  }

  static std::string cell(const Cell& cell, bool begins_group) {
    std::string kinds;
    const auto add = [&](const std::string& kind) { kinds += (kinds.empty() ? "" : " ") + kind; };
    if (cell.shade > 0)
      add(fmt::format("w{}",
                      std::clamp(static_cast<int>(std::ceil(cell.shade * static_cast<float>(heat_steps))), 1, heat_steps)));
    switch (cell.mark) {
      case Cell::Mark::none: break;
      case Cell::Mark::hidden: add("h"); break;
      case Cell::Mark::worked: add("k"); break;
      case Cell::Mark::wrong: add("x"); break;
    }
    if (begins_group) add("g");
    return fmt::format("<td{}>{}</td>", kinds.empty() ? "" : " class=\"" + kinds + "\"", html_escaped(cell.text));
  }

  // ---- around the blocks

  std::string head() const {
    std::string plain = title_;
    for (const std::string_view tag : {"<bdi>", "</bdi>"})
      for (std::size_t at = plain.find(tag); at != std::string::npos; at = plain.find(tag)) plain.erase(at, tag.size());
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
        "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"><title>{}</title>\n<style>{}</style></head>\n",
        language(), base64_of(page_css_sha256()), base64_of(page_js_sha256()), plain, page_css());
  }

  std::string button(std::string_view id, const Text& text) const {
    return fmt::format("<button type=\"button\" id=\"{}\" aria-pressed=\"false\">{}</button>", id, of_both(text));
  }

  std::string top() const {
    std::string text = "<h1>" + title_ + "</h1>\n<p class=\"facts\">" + facts_ + "</p>\n";
    if (!contents_.empty()) text += fmt::format("<nav aria-label=\"{}\">{}</nav>\n", own(contents_title), contents_);
    return text;
  }

  std::string bar() const {
    std::string text = fmt::format("<div class=\"bar\" role=\"toolbar\" aria-label=\"{}\" hidden>", attribute(tools_title));
    if (translation_)
      text += fmt::format(
          "<select id=\"language\" aria-label=\"language 语言\"><option value=\"{}\">{}</option>"
          "<option value=\"{}\">{}</option></select>",
          language(), own(language_name), translation_->language(), translation_->own(language_name));
    if (steps_ > 0)
      text += button("one", step_by_step) +
              fmt::format("<button type=\"button\" id=\"back\" aria-label=\"{}\">◀</button>", attribute(previous_step)) +
              fmt::format("<button type=\"button\" id=\"on\" aria-label=\"{}\">▶</button>", attribute(next_step)) +
              fmt::format("<label>{} <select id=\"jump\"></select></label>", of_both(step_title));
    if (!matrices_.empty()) {
      text += fmt::format("<label>{} <select id=\"decimals\"><option value=\"\">{}</option>", of_both(decimals_title),
                          attribute(as_written));
      for (int decimals = 0; decimals <= 6; ++decimals) text += fmt::format("<option>{}</option>", decimals);
      text += fmt::format("<option value=\"exact\">{}</option></select></label>", attribute(exactly_text));
    }
    if (!maps_.empty())
      text += button("heat", heat_title) + button("lines", lines_title) +
              fmt::format("<label>{} <select id=\"head\"><option value=\"\">{}</option></select></label>",
                          of_both(heads_title), attribute(all_heads));
    return text + button("dark", dark_title) + "</div>";
  }

  std::string content() const { return before_ + maps() + body_; }

  std::string maps() const {
    const std::string help = matrices_.empty() ? "" : "<p class=\"help\" hidden>" + own(help_text) + "</p>\n";
    if (maps_.empty()) return help;
    return help + fmt::format(
                      "<section class=\"maps\" aria-label=\"{0}\"><h2>{0}</h2><p class=\"cap\">{1}</p><div>{2}</div>"
                      "</section>\n",
                      own(maps_title), own(maps_text), maps_);
  }

  std::string foot() const {
    return "<aside id=\"panel\" aria-live=\"polite\" hidden></aside>\n" + data() +
           (translation_ ? translation_->data() : "") + fmt::format("<script>{}</script></div></body></html>\n", page_js());
  }

  std::string data() const {
    std::string text = fmt::format("<script type=\"application/json\" lang=\"{}\">{{\"words\":{{", language());
    for (const PageWord& caption : page_captions)
      text += (&caption == &page_captions.front() ? "" : ",") + json_string(caption.name) + ":" +
              json_string(say(document_.language, caption.text));
    text += "},\"matrices\":{";
    bool first = true;
    for (const auto& [name, matrix] : matrices_) {
      text += (first ? "\n" : ",\n") + json_string(name) + ":" + data_of(*matrix);
      first = false;
    }
    return text + "}}</script>\n";
  }

  std::vector<Index> counted(const Shown& shown) const {
    std::vector<Index> numbers;
    for (Index i = 0; i < shown.count(); ++i) numbers.push_back(shown.place(i) + document_.index_base);
    return numbers;
  }

  // Rows and columns that are shown, all entries in full, and of those that are computed the lines and what they read:
  // "Q1:1,1 1,2|K1:1,1 1,2".
  std::string data_of(const Matrix& matrix) const {
    const Sources& sources = *matrix.sources;
    const Shown &rows = matrix.transposed ? matrix.columns : matrix.rows,
                &columns = matrix.transposed ? matrix.rows : matrix.columns;
    std::string symbol = sources.part + matrix.symbol;
    if (matrix.transposed) symbol.resize(symbol.size() - std::string_view("ᵀ").size());
    std::string text =
        fmt::format("{{\"s\":{},\"all\":{},\"r\":[{}],\"c\":[{}],\"x\":[", json_string(symbol), rows.all() && columns.all(),
                    fmt::join(counted(rows), ","), fmt::join(counted(columns), ","));
    for (std::size_t i = 0; i < sources.exact.size(); ++i) text += (i == 0 ? "" : ",") + json_string(sources.exact[i]);
    if (sources.works.empty()) return text + "]}";
    text += "],\"w\":[";
    for (std::size_t i = 0; i < sources.works.size(); ++i)
      text += (i == 0 ? "" : ",") + json_string(lines(sources.works[i]));
    text += "],\"f\":[";
    for (std::size_t i = 0; i < sources.reads.size(); ++i)
      text += (i == 0 ? "" : ",") + json_string(reads(sources.reads[i]));
    return text + "]}";
  }

  static std::string lines(const Work& work) {
    std::string text;
    for (const Work::Line& line : work.lines) {
      text += (text.empty() ? "" : "\n") + line.relation + " " + line.expression;
      if (!line.remark.empty()) text += "   " + visible(line.remark.plain());
    }
    return text;
  }

  static std::string reads(const std::vector<EntryName>& entries) {
    std::map<std::string, std::string> places;
    std::vector<std::string> order;
    for (const EntryName& entry : entries) {
      std::string& list = places[entry.matrix];
      if (list.empty()) order.push_back(entry.matrix);
      const std::string place = fmt::format("{},{}", entry.row, entry.column);
      if ((" " + list + " ").find(" " + place + " ") == std::string::npos) list += (list.empty() ? "" : " ") + place;
    }
    std::string text;
    for (const std::string& matrix : order) text += (text.empty() ? "" : "|") + matrix + ":" + places[matrix];
    return text;
  }

  const Document& document_;
  std::string prefix_;                       // of all ids
  std::unique_ptr<HtmlWriter> translation_;  // the page in the other language, below this one
  int head_level_ = 2, level_ = 1, sections_ = 0, steps_ = 0;
  bool in_step_ = false, in_section_ = false;
  std::string title_, facts_, before_, body_, contents_, maps_, section_, item_;
  std::map<std::string, const Matrix*> matrices_;
  std::set<std::string> ids_;
  std::set<std::string> led_to_;              // by a table, which stands for an entry of the contents
  std::map<std::string, std::string> links_;  // to the sections of items and of people, by their names
};

}  // namespace

std::string write_html(const Document& document, const TextStyle&) {
  return HtmlWriter(document).write();
}

}  // namespace mha::show
