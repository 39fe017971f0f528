// Formulas as MathML.
#include "show/html/mathml.hpp"

#include <fmt/format.h>

#include "show/words/formula.hpp"

namespace mha::show {
namespace {

std::string element(std::string_view name, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>", name, html_escaped(text));
}

std::string math_row(const std::vector<Atom>& atoms);

std::string math_base(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::letters: return element("mi", atom.text);
    case Atom::Kind::number: return element("mn", atom.text);
    case Atom::Kind::words: return atom.text.empty() ? "" : element("mtext", atom.text);
    case Atom::Kind::root: return "<msqrt>" + math_row(atom.inside) + "</msqrt>";
    case Atom::Kind::sign: return "<mo stretchy=\"false\">" + html_escaped(atom.text) + "</mo>";
  }
  return "";
}

std::string math_row(const std::vector<Atom>& atoms) {
  std::string row;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const Atom& atom = atoms[i];
    if (keeps_blank(atoms, i)) row += "<mtext>\u00A0</mtext>";
    std::string text = is_hyphen(atoms, i) ? element("mtext", "-") : math_base(atom);
    if (atom.has_tilde) text = "<mover accent=\"true\">" + text + "<mo>~</mo></mover>";
    const std::string low = "<mrow>" + math_row(atom.below) + "</mrow>", high = "<mrow>" + math_row(atom.above) + "</mrow>";
    if (atom.below.empty() && atom.above.empty())
      row += text;
    else if (atom.above.empty())
      row += "<msub>" + text + low + "</msub>";
    else if (atom.below.empty())
      row += "<msup>" + text + high + "</msup>";
    else
      row += "<msubsup>" + text + low + high + "</msubsup>";
  }
  return row;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  return result;
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (code < 0x20 || c == '<')
      result += fmt::format("\\u{:04x}", code);
    else
      result += c;
  }
  return result + '"';
}

std::string mathml(std::string_view formula) {
  return "<math><mrow>" + math_row(atoms_of(formula)) + "</mrow></math>";
}

}  // namespace mha::show
