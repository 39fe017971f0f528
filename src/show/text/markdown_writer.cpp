// Writes a page as Markdown: one function for each kind of block, and escaping so that every sign stands for itself.
#include "show/writers.hpp"

#include "show/latex/latex_math.hpp"
#include "show/text/pen.hpp"

namespace mha::show {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_of_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "d_model" needs no escape: an underscore within a word means nothing.
bool is_within_word(std::string_view text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && is_of_word(text[i - 1]) && is_of_word(text[i + 1]);
}

// Signs that could mean something anywhere in a line.
std::string escaped(std::string_view text) {
  constexpr std::string_view special = "\\`*[<&|~$#_";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool harmless = special.find(text[i]) == std::string_view::npos || (text[i] == '_' && is_within_word(text, i));
    if (!harmless) result += '\\';
    result += text[i];
  }
  return result;
}

// A list, quotation, rule or block of code must not begin where a paragraph does: "- …", "1. …", "> …".
std::string escaped_start(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  constexpr std::string_view bullets = "+-=>", dots = ".)";
  const std::string_view signs = digits > 0 ? dots : bullets;
  if (digits < text.size() && signs.find(text[digits]) != std::string_view::npos) text.insert(digits, "\\");
  return text;
}

// One more backtick than anywhere in the text, and at least so many.
std::string fence_for(std::string_view text, std::size_t least) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return std::string(std::max(least, longest + 1), '`');
}

// Blanks keep a backtick at an end of the text apart from the fence; they are not shown.
std::string code_span(const std::string& text) {
  const std::string fence = fence_for(text, 1), space = text.find('`') == std::string::npos ? "" : " ";
  return fence + space + text + space + fence;
}

// Which key a column stands for, the rows of K say.
std::string bmatrix(const Matrix& matrix, bool row_labels) {
  return tex_labelled(matrix, "bmatrix", row_labels, full_width_text);
}

class MarkdownWriter {
 public:
  MarkdownWriter(const Document& document, const TextStyle& style)
      : document_(document), pen_(TextStyle{}), width_(style.width), math_(style.math) {
    for (const Block& block : document.blocks)
      if (const auto* section = std::get_if<Section>(&block); section != nullptr && section->level == Section::Level::item)
        head_level_ = 3;
  }

  std::string write() {
    for (const Block& block : document_.blocks) {
      if (!text_.empty()) text_ += '\n';
      std::visit([this](const auto& content) { write(content); }, block);
    }
    return std::move(text_);
  }

 private:
  std::string words(const Words& words) const { return escaped(pen_.words(words)); }

  std::string joined(const std::vector<Words>& parts) const {
    std::string result;
    for (const Words& part : parts) result += (result.empty() ? "" : " · ") + words(part);
    return result;
  }

  void paragraph(std::string text) { text_ += escaped_start(std::move(text)) + "\n"; }
  void heading(int level, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(level), '#') + " " + text + "\n";
  }

  void code_block(const std::vector<std::string>& lines) {
    std::string content;
    for (const std::string& line : lines) content += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    const std::string fence = fence_for(content, 3);
    text_ += fence + "text\n" + content + fence + "\n";
  }

  void write(const Title& title) { heading(1, joined(title.parts)); }
  void write(const Facts& facts) { paragraph(joined(facts.parts)); }
  void write(const Section& section) {
    heading(section.level == Section::Level::item ? 2 : head_level_, joined(section.parts));
  }

  // "### 1 Queries", and below it the formula and the shapes
  void write(const StepHeading& step) {
    heading(head_level_ + 1, (step.number ? std::to_string(*step.number) + " " : "") + escaped(step.title));
    text_ += '\n';
    paragraph((math_ ? "$" + tex_math(step.formula, full_width_text) + "$" : code_span(step.formula)) +
              (step.shapes.empty() ? "" : " · " + escaped(step.shapes)));
  }

  void write(const Note& note) {
    switch (note.kind) {
      case Note::Kind::paragraph:
      case Note::Kind::caption: return paragraph(words(note.text));
      case Note::Kind::hint:
      case Note::Kind::warning: return paragraph("**" + words(note.text) + "**");
    }
  }

  void formula(const std::string& text) { text_ += "$$\n" + text + "\n$$\n"; }
  void write(const Equation& equation) {
    if (math_)
      formula(tex_equation(equation, bmatrix, full_width_text));
    else
      code_block(lay_out(equation, pen_, document_, width_));
  }
  void write(const Work& work) {
    if (math_)
      formula("\\begin{aligned}\n" + tex_work(work, full_width_text) + "\n\\end{aligned}");
    else
      code_block(lay_out(work, pen_, width_));
  }

  void write(const Table& table) {
    const std::size_t columns =
        table.header.empty() && !table.rows.empty() ? table.rows.front().size() : table.header.size();
    std::vector<std::string> header(columns);
    std::transform(table.header.begin(), table.header.end(), header.begin(), escaped);
    table_row(header);
    std::vector<std::string> rule(columns, "---");
    for (std::size_t i = 0; i < std::min(columns, table.numeric.size()); ++i)
      if (table.numeric[i]) rule[i] = "---:";
    table_row(rule);
    for (const std::vector<Words>& row : table.rows) {
      std::vector<std::string> cells(row.size());
      std::transform(row.begin(), row.end(), cells.begin(), [this](const Words& cell) { return words(cell); });
      table_row(cells);
    }
  }

  void table_row(const std::vector<std::string>& cells) {
    text_ += '|';
    for (const std::string& cell : cells) text_ += " " + cell + " |";
    text_ += '\n';
  }

  const Document& document_;
  Pen pen_;
  int width_;
  bool math_;
  int head_level_ = 2;  // of the heading over a head; 3 where the items of a batch have headings of their own
  std::string text_;
};

}  // namespace

std::string write_markdown(const Document& document, const TextStyle& style) {
  return MarkdownWriter(document, style).write();
}

}  // namespace mha::show
