// What LaTeX and Markdown share: formulas, matrices and spelled-out entries in the language of TeX.
#pragma once

#include "show/document.hpp"

namespace mha::show {

// Text as it stands in LaTeX or in \text{…}: every sign for itself.
using TexText = std::string (*)(std::string_view text);
// The program's own signs as TeX has them, everything else escaped; no command, comment, ligature or ^^ comes of it.
std::string latex_text(std::string_view text);
// In Markdown a formula goes through several readers, of which each takes other signs for its own: these stand there in
// full-width forms, which mean nothing to any.
std::string full_width_text(std::string_view text);

std::string tex_math(std::string_view formula, TexText text);

// As drawn, with dots for what is left out, each row with its cells joined by "&" and without its label.
std::vector<std::string> tex_rows(const Matrix& matrix, TexText text);

// The person's word within a formula.
std::string tex_label(const std::string& label, TexText text);

// A "pmatrix" or the like, perhaps with the labels of its rows in front.
std::string tex_labelled(const Matrix& matrix, std::string_view kind, bool row_labels, TexText text);

// Lines of an alignment: "Q[1,1] &= 1·1 + 0·0", "&= 1".
std::string tex_work(const Work& work, TexText text);

// Matrices, each as `set` writes it, and what stands between them; in lines where they are too wide for one.
using TexMatrix = std::string (*)(const Matrix& matrix, bool row_labels);
std::string tex_equation(const Equation& equation, TexMatrix set, TexText text);

}  // namespace mha::show
