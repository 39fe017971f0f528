// Writes a page as LaTeX: one function for each kind of block. What is wider or taller than the page is made smaller.
#include "show/writers.hpp"

#include <fmt/ranges.h>

#include <numeric>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "show/latex/latex_math.hpp"
#include "show/text/wrap.hpp"

namespace mha::show {
namespace {

constexpr Index most_columns_of_latex = 200;         // a box of TeX is at most 5.75 m wide
constexpr int table_width = 80, narrow_column = 26;  // in letters

constexpr std::string_view latex_macros = R"(\providecommand{\mhafit}[1]{\begingroup\sbox2{$\displaystyle#1$}%
  \ifdim\wd2>\linewidth\sbox2{\resizebox{\linewidth}{!}{\usebox2}}\fi
  \ifdim\dimexpr\ht2+\dp2\relax>.8\textheight\sbox2{\resizebox*{!}{.8\textheight}{\usebox2}}\fi
  \usebox2\endgroup}
)";

// OT1, the encoding of TeX's own fonts, has these with their accents; everything else that is not ASCII asks for XeLaTeX.
bool is_for_pdflatex(char32_t c) {
  constexpr std::u32string_view lacking = U"ÐÞðþ×÷";
  return c < 0x80 || (c >= U'À' && c <= U'ÿ' && lacking.find(c) == std::u32string_view::npos);
}

std::string latex_words(const Words& words) {
  std::string result;
  for (const Span& span : words.spans()) result += latex_text(span.quoted ? visible(span.text) : span.text);
  return result;
}

// The labels of the shown columns, or the heads to which they belong; nothing where there are neither.
std::string latex_header(const Matrix& matrix) {
  std::string cells;
  if (!matrix.column_labels.empty())
    for (Index line = 0; line < matrix.columns.drawn(); ++line) {
      const std::optional<Index> shown = matrix.columns.shown_at(line);
      cells += " & " + (shown ? tex_label(matrix.column_labels[static_cast<std::size_t>(*shown)], latex_text) : "\\cdots");
    }
  else if (matrix.columns.all())
    for (const ColumnGroup& group : matrix.groups)
      cells += fmt::format(" & \\multispan{{{}}}{{\\hfil${}$\\hfil}}", group.columns, tex_math(group.label, latex_text));
  return cells;
}

std::string latex_matrix(const Matrix& matrix, bool row_labels) {
  if (matrix.columns.count() > most_columns_of_latex)
    throw Error({"a matrix of {} columns is too wide for a page of LaTeX; leave out --full",
                 "{} 列的矩阵对 LaTeX 页面来说太宽；请去掉 --full"},
                matrix.columns.count());
  const std::string header = latex_header(matrix);
  std::string result;
  if (header.empty()) {
    result = tex_labelled(matrix, "pmatrix", row_labels, latex_text);
  } else {
    const std::vector<std::string> rows = tex_rows(matrix, latex_text);
    result = "\\bordermatrix{" + header + " \\cr\n";
    for (std::size_t line = 0; line < rows.size(); ++line) {
      const std::optional<Index> shown = matrix.rows.shown_at(static_cast<Index>(line));
      if (row_labels)
        result += shown ? tex_label(matrix.row_labels[static_cast<std::size_t>(*shown)], latex_text) : "\\vdots";
      result += " & " + rows[line] + " \\cr\n";
    }
    result += "}";
  }
  if (matrix.row_sums.empty() || !matrix.rows.all()) return result;
  return result +
         fmt::format("\\begin{{matrix}}\n\\Sigma = {}\n\\end{{matrix}}", fmt::join(matrix.row_sums, " \\\\\n\\Sigma = "));
}

class LatexWriter {
 public:
  LatexWriter(const Document& document, bool fragment) : document_(document), fragment_(fragment) {}

  std::string write() {
    for (const Block& block : document_.blocks) std::visit([this](const auto& content) { write(content); }, block);
    const std::string columns = fmt::format("\\setcounter{{MaxMatrixCols}}{{{}}}\n", most_columns_of_latex + 1);
    if (fragment_)
      return "% For \\input into a document with \\usepackage{amsmath,graphicx,array,longtable}" +
             std::string(needs_xelatex() ? "\n% and, for its characters, xelatex with \\usepackage{ctex}.\n" : ".\n") +
             std::string(latex_macros) + "\\begingroup\\sloppy\n" + columns + out_ + "\\par\\endgroup\n";
    return head() + std::string(latex_macros) + columns + "\\begin{document}\n\\sloppy\\raggedright\n" + out_ +
           "\\end{document}\n";
  }

 private:
  bool needs_xelatex() const {
    for (std::string_view rest = out_; !rest.empty();)
      if (!is_for_pdflatex(take_character(rest).code)) return true;
    return false;
  }

  // Greek, Cyrillic and pictures such as □, which the fonts of LaTeX lack, are in those for Chinese.
  std::string head() const {
    const bool xelatex = needs_xelatex();
    return fmt::format(
        "% !TEX program = {0}\n% Compile with: {0}{1}\n\\documentclass[a4paper]{{article}}\n"
        "\\usepackage[margin=2cm]{{geometry}}\n\\usepackage{{amsmath,graphicx,array,longtable}}\n{2}"
        "\\setlength{{\\parindent}}{{0pt}}\\setlength{{\\parskip}}{{.6ex}}\n\\allowdisplaybreaks\n",
        xelatex ? "xelatex" : "pdflatex", xelatex ? " (it has characters for which the package ctex is needed)" : "",
        !xelatex ? ""
                 : std::string("\\usepackage[UTF8,scheme=plain]{ctex}\n"
                               "\\xeCJKDeclareCharClass{CJK}{\"370 -> \"52F, \"2190 -> \"2BFF}\n"));
  }

  std::string joined(const std::vector<Words>& parts) const {
    std::string result;
    for (const Words& part : parts) result += (result.empty() ? "" : " $\\cdot$ ") + latex_words(part);
    return result;
  }

  void paragraph(const std::string& text) { out_ += "\\par " + text + "\n"; }

  void write(const Title& title) { out_ += "\\section*{" + joined(title.parts) + "}\n"; }
  void write(const Facts& facts) { paragraph("{\\small " + joined(facts.parts) + "}"); }
  void write(const Section& section) {
    const std::string level = section.level == Section::Level::item ? "section" : "subsection";
    out_ += "\n\\" + level + "*{" + joined(section.parts) + "}\n";
  }

  void write(const StepHeading& step) {
    out_ += fmt::format("\n\\subsubsection*{{{}{}}}\n", step.number ? fmt::format("{}\\quad ", *step.number) : "",
                        latex_text(step.title));
    paragraph("$" + tex_math(step.formula, latex_text) + "$\\hfill " + latex_text(step.shapes));
  }

  void write(const Note& note) {
    switch (note.kind) {
      case Note::Kind::paragraph: return paragraph(latex_words(note.text));
      case Note::Kind::caption: return paragraph("{\\small\\itshape " + latex_words(note.text) + "}");
      case Note::Kind::hint:
      case Note::Kind::warning: return paragraph("\\textbf{" + latex_words(note.text) + "}");
    }
  }

  void write(const Equation& equation) {
    out_ += "\\[\\mhafit{" + tex_equation(equation, latex_matrix, latex_text) + "}\\]\n";
  }
  void write(const Work& work) { out_ += "\\begin{align*}\n" + tex_work(work, latex_text) + "\n\\end{align*}\n"; }

  // Columns as wide as what stands in them; where that is too wide, the long ones share what is left and break their lines.
  void write(const Table& table) {
    std::vector<int> widths(std::max(table.header.size(), table.rows.empty() ? 0 : table.rows.front().size()), 1);
    for (std::size_t i = 0; i < table.header.size(); ++i) widths[i] = display_width(table.header[i]);
    for (const std::vector<Words>& row : table.rows)
      for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
        widths[i] = std::max(widths[i], display_width(row[i].plain()));
    const auto sum = [&](bool only_narrow) {
      return std::accumulate(widths.begin(), widths.end(), 0, [&](int all, int width) {
        return all + (only_narrow && width > narrow_column ? 0 : width + 2);
      });
    };
    const int all = sum(false), narrow = sum(true);
    const bool fits = all <= table_width, all_share = narrow > table_width - 2 * narrow_column;
    std::string kinds;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (fits || (!all_share && widths[i] <= narrow_column)) {
        kinds += i < table.numeric.size() && table.numeric[i] ? "r" : "l";
        continue;
      }
      const double share = all_share ? double(widths[i] + 2) / all
                                     : double(widths[i] + 2) / (all - narrow) * (table_width - narrow) / table_width;
      kinds += fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.3f}\\dimexpr\\linewidth-{}\\tabcolsep\\relax}}", share,
                           2 * widths.size());
    }
    out_ += fmt::format("{{{}\\begin{{longtable}}[l]{{{}}}\n", fits ? "\\small" : "\\footnotesize", kinds);
    if (!table.header.empty()) {
      std::vector<std::string> header(table.header.size());
      std::transform(table.header.begin(), table.header.end(), header.begin(), latex_text);
      out_ += fmt::format("{} \\\\\n\\hline\n\\endhead\n", fmt::join(header, " & "));
    }
    for (const std::vector<Words>& row : table.rows) {
      std::vector<std::string> cells(row.size());
      std::transform(row.begin(), row.end(), cells.begin(), latex_words);
      out_ += fmt::format("{} \\\\\n", fmt::join(cells, " & "));
    }
    out_ += "\\end{longtable}}\n";
  }

  const Document& document_;
  bool fragment_;
  std::string out_;
};

}  // namespace

std::string write_latex(const Document& document, const TextStyle& style) {
  return LatexWriter(document, style.fragment).write();
}

}  // namespace mha::show
