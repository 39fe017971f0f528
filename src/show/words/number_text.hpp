// How a number reads on a page: integers as integers, everything else with one number of decimals for the whole matrix.
#pragma once

#include <string>

namespace mha::show {

// Decides over the numbers of one matrix, then spells them. Signs are ASCII, so that numbers can be copied; −∞ is a sign.
class NumberStyle {
 public:
  // Given numbers keep the decimals that the person wrote, computed ones are whole or have `precision` decimals.
  enum class Origin { given, computed };

  NumberStyle(int precision, Origin origin) : precision_(precision), origin_(origin) {}

  // A number that will be shown.
  void see(double value);
  // A number that was not seen gets as many decimals as it needs, at most `precision`.
  std::string text(double value) const;
  // The same as a factor or summand: negative numbers in parentheses.
  std::string term(double value) const;
  // Whether text() leaves digits of this finite number out.
  bool rounds(double value) const;
  // As text, but always with `precision` decimals (never shortened to an integer).
  std::string fixed(double value) const;

 private:
  int decimals_of(double value) const;

  int precision_;
  Origin origin_;
  int decimals_ = 0;
};

// A number of the problem's own that is told once, in full: the shortest text that is read as the same number.
std::string full_text(double value);

// Three digits of it, however small: how far two numbers are apart reads 0 only where they are not.
std::string short_text(double value);

}  // namespace mha::show
