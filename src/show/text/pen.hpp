// What a terminal can show: respells signs for those that know ASCII only, turns words into text of its character set, adds
// colour where there is any, and sets equations of matrices and entries that are spelled out in lines.
#pragma once

#include "show/document.hpp"
#include "show/writers.hpp"

namespace mha::show {

// Every sign of the program's own has a spelling ("·" is "*", "Q⁽¹⁾" is "Q(1)"); other characters, such as those of a
// Chinese sentence, stay.
std::string to_ascii(std::string_view text);

class Pen {
 public:
  explicit Pen(const TextStyle& style) : style_(style) {}

  // Plain text, as wide as it looks.
  std::string own(std::string_view text) const;
  std::string quoted(std::string_view text) const;
  std::string words(const Words& words) const;
  std::string_view ellipsis() const { return style_.ascii ? "..." : "…"; }
  std::string_view separator() const { return style_.ascii ? " | " : " · "; }

  // The same text with colour around it, if there is any.
  std::string bold(std::string text) const { return painted("1", std::move(text)); }
  std::string dim(std::string text) const { return painted("2", std::move(text)); }
  std::string warning(std::string text) const { return painted("1;33", std::move(text)); }
  std::string cell(std::string text, const Cell& cell) const;

 private:
  std::string painted(std::string_view codes, std::string text) const;

  TextStyle style_;
};

// How a terminal shows a weight. Small weights have no background. Those of the others are about as far from black as from
// white, the more blue the larger the weight, and the largest are in reverse, which no terminal shows otherwise: so
// the larger one stands out, whether the terminal is dark or light.
std::string_view shade_of(float weight);

// Lines of at most `width` columns, where a single column of a matrix is not wider alone.
std::vector<std::string> lay_out(const Equation& equation, const Pen& pen, const Document& document, int width);

std::vector<std::string> lay_out(const Work& work, const Pen& pen, int width);

}  // namespace mha::show
