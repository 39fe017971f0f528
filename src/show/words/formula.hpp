// Formulas as pages write them ("S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ"), taken apart into atoms with marks, for the formats that set them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mha::show {

struct Atom {
  // Words are no part of a formula: ", each row", or Chinese.
  enum class Kind { letters, number, sign, root, words };
  Kind kind = Kind::sign;
  std::string text;
  std::vector<Atom> inside = {};             // of a root
  std::vector<Atom> below = {}, above = {};  // an index; a power, a head's number, T
  bool has_tilde = false;
  bool is_spaced = false;  // a blank stands before it
};

std::vector<Atom> atoms_of(std::string_view formula);

// Whether the blank before an atom is set: a word keeps its blanks, signs have their own. Whether it joins a word:
// "re-read".
bool keeps_blank(const std::vector<Atom>& atoms, std::size_t i);
bool is_hyphen(const std::vector<Atom>& atoms, std::size_t i);

}  // namespace mha::show
