// Takes formulas apart: a formula is a row of atoms with marks above, below and behind them.
#include "show/words/formula.hpp"

#include <algorithm>
#include <utility>

#include "core/utf8.hpp"

namespace mha::show {
namespace {

bool is_latin(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}
bool is_letter(char32_t c) {
  return is_latin(c) || (c >= U'Α' && c <= U'ω');
}
bool is_decimal(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_wide(char32_t c) {
  return c > 0x2E80;
}

// The sign on the line for a raised or lowered one; nothing for every other.
std::optional<char> on_line(char32_t c) {
  constexpr std::u32string_view signs = U"⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾ᵏᵛ₀₁₂₃₄₅₆₇₈₉";
  constexpr std::string_view plain = "0123456789()kv0123456789";
  const std::size_t at = signs.find(c);
  return at == std::u32string_view::npos ? std::nullopt : std::optional(plain[at]);
}
bool is_lowered(char32_t c) {
  return c >= U'₀' && c <= U'₉';
}

class FormulaReader {
 public:
  explicit FormulaReader(std::string_view formula) : rest_(formula) {}

  std::vector<Atom> read() {
    std::vector<Atom> row;
    bool spaced = false;
    while (!rest_.empty()) {
      if (next() == U' ') {
        take();
        spaced = true;
        continue;
      }
      const bool words = rest_.starts_with(", ") && rest_.size() > 3 && is_latin(static_cast<unsigned char>(rest_[2])) &&
                         is_latin(static_cast<unsigned char>(rest_[3]));  // ", V⁽¹⁾" is another matrix
      row.push_back(words ? words_behind() : marked());
      row.back().is_spaced = std::exchange(spaced, false);
    }
    return row;
  }

 private:
  char32_t next() const {
    std::string_view rest = rest_;
    return rest.empty() ? 0 : take_character(rest).code;
  }
  std::string take() { return std::string(take_character(rest_).bytes); }

  template <typename Fits>
  std::string run(Fits fits) {
    std::string text;
    while (!rest_.empty() && fits(next())) text += take();
    return text;
  }

  // "1.5", "1e-05"
  std::string number() {
    std::string text = run([](char32_t c) { return is_decimal(c) || c == U'.'; });
    if (rest_.size() < 3 || rest_[0] != 'e' || (rest_[1] != '-' && rest_[1] != '+') ||
        !is_decimal(static_cast<unsigned char>(rest_[2])))
      return text;
    text.append(rest_.substr(0, 2));
    rest_.remove_prefix(2);
    return text + run(is_decimal);
  }

  // What has no marks of its own.
  Atom base() {
    using Kind = Atom::Kind;
    if (rest_.empty() || on_line(next()) || next() == U'ᵀ') return {Kind::words, ""};
    if (is_letter(next())) {
      std::string letters = run(is_letter);
      const bool is_word = letters.size() > 1 &&
                           std::all_of(letters.begin(), letters.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
                           (rest_.empty() || rest_.front() == ' ' || rest_.front() == ',' || rest_.front() == '-');
      return {is_word ? Kind::words : Kind::letters, std::move(letters)};
    }
    if (is_decimal(next())) return {Kind::number, number()};
    if (next() == U'√') {
      take();
      return {Kind::root, "", argument()};
    }
    if (is_wide(next())) return {Kind::words, run(is_wide)};
    return {Kind::sign, take()};
  }

  // What a root or a power takes: what stands in parentheses, without them, or one atom with its sign.
  std::vector<Atom> argument() {
    if (rest_.starts_with('(')) {
      std::size_t end = 0;
      for (int depth = 0; end < rest_.size(); ++end) {
        depth += rest_[end] == '(' ? 1 : rest_[end] == ')' ? -1 : 0;
        if (depth == 0) break;
      }
      if (end < rest_.size()) {
        const std::string_view inside = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return FormulaReader(inside).read();
      }
    }
    std::vector<Atom> atoms;
    if (next() == U'−' || next() == U'-') atoms.push_back({Atom::Kind::sign, take()});
    atoms.push_back(marked());
    return atoms;
  }

  // A word of the language beside the formula: ", each row".
  Atom words_behind() {
    std::string text = run([](char32_t c) { return c == U',' || c == U' '; });
    text += run([](char32_t c) { return is_latin(c) || c == U' ' || c == U'-'; });
    return {Atom::Kind::words, std::move(text)};
  }

  // With a tilde above, a power or a head's number above behind, an index below.
  Atom marked() {
    Atom atom = base();
    for (bool more = true; more && !rest_.empty();) {
      const char32_t c = next();
      if (c == U'\u0303') {
        take();
        atom.has_tilde = true;
      } else if (c == U'_') {
        take();
        atom.below.push_back({Atom::Kind::letters, run([](char32_t sign) { return is_letter(sign) || is_decimal(sign); })});
      } else if (on_line(c)) {
        (is_lowered(c) ? atom.below : atom.above).push_back({Atom::Kind::number, raised(is_lowered(c))});
      } else if (c == U'ᵀ') {
        take();
        atom.above.push_back({Atom::Kind::letters, "T"});
      } else if (c == U'′' || (c == U'*' && atom.text == "N" && !atom.has_tilde)) {
        atom.above.push_back({Atom::Kind::sign, take()});
      } else if (c == U'^') {
        take();
        for (Atom& part : argument()) atom.above.push_back(std::move(part));
      } else {
        more = false;
      }
    }
    return atom;
  }

  std::string raised(bool lowered) {
    std::string text;
    while (!rest_.empty() && on_line(next()) && is_lowered(next()) == lowered) {
      text += *on_line(next());
      take();
    }
    return text;
  }

  std::string_view rest_;
};

bool is_word(const Atom& atom) {
  return (atom.kind == Atom::Kind::letters && atom.text.size() > 1 &&
          static_cast<unsigned char>(atom.text.front()) < 0x80) ||
         atom.kind == Atom::Kind::words;
}

}  // namespace

bool keeps_blank(const std::vector<Atom>& atoms, std::size_t i) {
  const Atom& atom = atoms[i];
  if (i == 0 || !atom.is_spaced || atoms[i - 1].kind == Atom::Kind::sign) return false;
  return (atom.kind != Atom::Kind::sign || atom.text == "(") && (is_word(atom) || is_word(atoms[i - 1]));
}

bool is_hyphen(const std::vector<Atom>& atoms, std::size_t i) {
  return i > 0 && atoms[i].text == "-" && !atoms[i].is_spaced && is_word(atoms[i - 1]);
}

std::vector<Atom> atoms_of(std::string_view formula) {
  return FormulaReader(formula).read();
}

}  // namespace mha::show
