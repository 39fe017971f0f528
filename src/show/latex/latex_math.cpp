// Formulas, matrices and spelled-out entries in the language of TeX.
#include "show/latex/latex_math.hpp"

#include <fmt/ranges.h>

#include "core/utf8.hpp"
#include "show/text/wrap.hpp"
#include "show/words/formula.hpp"

namespace mha::show {
namespace {

// Signs, each before what TeX calls it; the first ones in formulas, the second in text alone.
constexpr std::string_view tex_signs =
    R"( · \cdot × \times → \to − {-} ∞ \infty Σ \sum … \ldots ⋮ \vdots ⋯ \cdots ⋱ \ddots ∘ \circ θ \theta ′ \prime ≠ \ne)"
    R"( ← \gets ⌊ \lfloor ⌋ \rfloor γ \gamma β \beta μ \mu σ \sigma Φ \Phi ½ \tfrac12 π \pi ≤ \le ≥ \ge ± \pm ≈ \approx)"
    R"( ‖ \| ├ \vdash └ \lfloor │ {|} √ \surd ∜ \sqrt[4] * \ast ─ {-} ⁽ {}^{(} ⁾ {}^{)} ⁰ {}^{0} ¹ {}^{1} ² {}^{2})"
    R"( ³ {}^{3} ⁴ {}^{4} ⁵ {}^{5} ⁶ {}^{6} ⁷ {}^{7} ⁸ {}^{8} ⁹ {}^{9} ᵏ {}^{k} ᵛ {}^{v} ᵀ {}^{T} ₀ {}_{0} ₁ {}_{1})"
    R"( ₂ {}_{2} ₃ {}_{3} ₄ {}_{4} ₅ {}_{5} ₆ {}_{6} ₇ {}_{7} ₈ {}_{8} ₉ {}_{9} )";
constexpr std::string_view text_signs =
    R"( \ \textbackslash{} { \{ } \} $ \$ & \& # \# % \% _ \_ ^ \^{} ~ \~{} < $<$ > $>$ | $|$ ` {}`{} – -- — --- ’ {'} * {*} )";

std::string_view sign_in(std::string_view signs, std::string_view sign) {
  const std::size_t at = signs.find(" " + std::string(sign) + " ");
  if (sign == " " || at == std::string_view::npos) return {};
  signs.remove_prefix(at + sign.size() + 2);
  return signs.substr(0, signs.find(' '));
}

constexpr int line_width = 84;  // letters of digit width on a line of the page
constexpr int expression_width = 56;
constexpr int longest_unbroken = 16;

class TexFormula {
 public:
  explicit TexFormula(TexText text) : text_(text) {}

  // A minus stays at its number.
  std::string row(const std::vector<Atom>& atoms) const {
    std::string result;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const Atom& atom = atoms[i];
      const bool begins = i == 0 || atoms[i - 1].kind == Atom::Kind::sign, is_sign = atom.kind == Atom::Kind::sign;
      if (keeps_blank(atoms, i)) result += "\\ ";
      result += is_hyphen(atoms, i) ? "\\text{-}" : marked(atom);
      if (!begins || !is_sign || marked(atom) != "-") result += ' ';
    }
    if (result.ends_with(' ')) result.pop_back();
    return result;
  }

 private:
  std::string marked(const Atom& atom) const {
    std::string result = base(atom);
    if (atom.has_tilde) result = "\\tilde{" + result + "}";
    if (!atom.below.empty()) result += "_{" + row(atom.below) + "}";
    if (!atom.above.empty()) result += "^{" + row(atom.above) + "}";
    return result;
  }

  std::string base(const Atom& atom) const {
    switch (atom.kind) {
      case Atom::Kind::letters: return letters(atom.text);
      case Atom::Kind::number: return number(atom.text);
      case Atom::Kind::root: return "\\sqrt{" + row(atom.inside) + "}";
      case Atom::Kind::words: return atom.text.empty() ? "{}" : "\\text{" + text_(atom.text) + "}";
      case Atom::Kind::sign: return sign(atom.text);
    }
    return "";
  }

  std::string sign(std::string_view text) const {
    constexpr std::string_view plain = "()[]+-=/,.:;!|<>";
    if (text.size() == 1 && plain.find(text.front()) != std::string_view::npos) return std::string(text);
    if (text == "−") return "-";
    const std::string_view macro = sign_in(tex_signs, text);
    return macro.empty() ? "\\text{" + text_(text) + "}" : std::string(macro);
  }

  std::string letters(std::string_view text) const {
    std::string result;
    int count = 0;
    for (std::string_view rest = text; !rest.empty(); ++count) {
      const Character character = take_character(rest);
      const std::string_view macro = sign_in(tex_signs, character.bytes);
      result += macro.empty() ? std::string(character.bytes) : std::string(macro) + (rest.empty() ? "" : " ");
    }
    return count == 1 ? result : "\\mathrm{" + result + "}";
  }

  // "1e-05"
  static std::string number(const std::string& text) {
    const std::size_t at = text.find('e');
    if (at == std::string::npos) return text;
    return text.substr(0, at) + "\\mathrm{e}{" + text[at + 1] + "}" + text.substr(at + 2);
  }

  TexText text_;
};

std::string tex_cell(const Cell& cell, TexText text) {
  const bool is_blank = cell.text.find_first_not_of('_') == std::string::npos;
  const std::string number = is_blank ? "\\underline{\\qquad}" : tex_math(cell.text, text);
  switch (cell.mark) {
    case Cell::Mark::none:
    case Cell::Mark::hidden: return number;
    case Cell::Mark::worked: return "\\mathbf{" + number + "}";
    case Cell::Mark::wrong: return "\\underline{" + number + "}";
  }
  return number;
}

int width_of(const Matrix& matrix) {
  int width = 4;
  for (Index column = 0; column < matrix.columns.count(); ++column) {
    int widest = matrix.column_labels.empty() ? 1 : display_width(matrix.column_labels[static_cast<std::size_t>(column)]);
    for (Index row = 0; row < matrix.rows.count(); ++row)
      widest = std::max(widest, display_width(matrix.cell(row, column).text));
    width += widest + 2;
  }
  return width + (matrix.columns.all() ? 0 : 4) + (matrix.row_sums.empty() ? 0 : 8);
}

int width_of_labels(const Matrix& matrix) {
  int widest = 0;
  for (const std::string& label : matrix.row_labels) widest = std::max(widest, display_width(label));
  return widest;
}

}  // namespace

std::string latex_text(std::string_view text) {
  std::string result;
  int unbroken = 0;
  while (!text.empty()) {
    const Character character = take_character(text);
    std::string_view rest = text;
    const bool has_tilde = !rest.empty() && take_character(rest).code == U'\u0303';
    if (has_tilde) text = rest;
    std::string sign(sign_in(text_signs, character.bytes));
    if (sign.empty())
      if (const std::string_view math = sign_in(tex_signs, character.bytes); !math.empty())
        sign = fmt::format("${}$", math);
    if (sign.empty()) sign = character.bytes;
    result += has_tilde ? "\\~{" + sign + "}" : sign;
    if (!text.empty() && text.front() == sign.front() && (sign == "-" || sign == "'")) result += "{}";
    unbroken = character.code == U' ' || static_cast<unsigned>(character.code) > 0x2E80 ? 0 : unbroken + 1;
    if (unbroken >= longest_unbroken && !text.empty() && text.front() != ' ') result += "\\allowbreak{}", unbroken = 0;
  }
  return result;
}

std::string full_width_text(std::string_view text) {
  constexpr std::string_view plain = " ()+-=/,.:;!?";
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_plain = code >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          plain.find(c) != std::string_view::npos;
    if (is_plain || code <= 0x20)
      result += c;
    else  // U+FF01 is that of "!"
      result += {'\xEF', static_cast<char>(0xBC + (code >= 0x60)), static_cast<char>(0x80 + ((code - 0x20) & 0x3F))};
  }
  return result;
}

std::string tex_math(std::string_view formula, TexText text) {
  return TexFormula(text).row(atoms_of(formula));
}

std::string tex_labelled(const Matrix& matrix, std::string_view kind, bool row_labels, TexText text) {
  const auto labels = [text](const std::vector<std::string>& own, const Shown& lines, const char* gap,
                             const char* between) {
    std::string list;
    for (Index line = 0; line < lines.drawn(); ++line) {
      const std::optional<Index> shown = lines.shown_at(line);
      list += (line == 0 ? "" : between) + (shown ? tex_label(own[static_cast<std::size_t>(*shown)], text) : gap);
    }
    return list;
  };
  std::string result = fmt::format("\\begin{{{0}}}\n{1}\n\\end{{{0}}}", kind, fmt::join(tex_rows(matrix, text), " \\\\\n"));
  if (!matrix.column_labels.empty())
    result = fmt::format("\\overset{{{}}}{{{}}}", labels(matrix.column_labels, matrix.columns, "\\cdots", " \\enspace "),
                         result);
  if (!row_labels) return result;
  return fmt::format("\\begin{{matrix}}\n{}\n\\end{{matrix}} {}",
                     labels(matrix.row_labels, matrix.rows, "\\vdots", " \\\\\n"), result);
}

std::string tex_label(const std::string& label, TexText text) {
  return "\\text{" + text(visible(label)) + "}";
}

std::vector<std::string> tex_rows(const Matrix& matrix, TexText text) {
  std::vector<std::string> rows;
  for (Index line = 0; line < matrix.rows.drawn(); ++line) {
    const std::optional<Index> row = matrix.rows.shown_at(line);
    std::string cells;
    for (Index place = 0; place < matrix.columns.drawn(); ++place) {
      const std::optional<Index> column = matrix.columns.shown_at(place);
      if (place > 0) cells += " & ";
      cells += row && column ? tex_cell(matrix.cell(*row, *column), text)
               : row         ? "\\cdots"
               : column      ? "\\vdots"
                             : "\\ddots";
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string tex_work(const Work& work, TexText text) {
  std::string result = tex_math(work.entry, text);
  for (const Work::Line& line : work.lines) {
    std::string sign = tex_math(line.relation, text);
    for (const std::string& part : fill(terms_of(line.expression), expression_width)) {
      result += &line == &work.lines.front() && !sign.empty() ? " " : "\\\\\n";
      result += "&" + (sign.empty() ? "\\quad {}" : sign) + " " + tex_math(part, text);
      sign.clear();
    }
    if (line.remark.empty()) continue;
    for (const std::string& part : fill(pieces_of(line.remark.plain()), expression_width))
      result += "\\\\\n&\\quad \\text{" + text(visible(part)) + "}";
  }
  return result;
}

std::string tex_equation(const Equation& equation, TexMatrix set, TexText text) {
  std::vector<std::string> lines(1);
  std::string sign;
  int used = 0;
  const std::vector<std::string>* labels = nullptr;
  for (const Equation::Part& part : equation.parts) {
    if (const auto* between = std::get_if<std::string>(&part)) {
      sign = tex_math(*between, text) + " ";
      used += 3;
      continue;
    }
    const Matrix& matrix = std::get<Matrix>(part);
    const bool labelled = !matrix.row_labels.empty() && (labels == nullptr || *labels != matrix.row_labels);
    if (labels == nullptr) labels = &matrix.row_labels;
    const int width = width_of(matrix) + (labelled ? width_of_labels(matrix) : 0);
    if (used > 3 && used + width > line_width) lines.emplace_back(), used = 0;
    used += width;
    // A line that begins with a sign would be something else in Markdown.
    if (!sign.empty()) lines.back() += (lines.back().empty() ? "{}" : " {}") + std::exchange(sign, "");
    lines.back() += fmt::format("\\underset{{{}}}{{{}}}", tex_math(matrix.symbol, text), set(matrix, labelled));
  }
  if (lines.size() == 1) return lines.front();
  return fmt::format("\\begin{{aligned}}\n&{}\n\\end{{aligned}}", fmt::join(lines, "\\\\[1ex]\n&"));
}

}  // namespace mha::show
