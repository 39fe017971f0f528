// Formulas as MathML: a formula is a row of atoms with marks above, below and behind them.
#include "show/html/mathml.hpp"

#include <fmt/format.h>

#include <optional>

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

class MathWriter {
 public:
  explicit MathWriter(std::string_view formula) : rest_(formula) {}

  std::string write() {
    std::string row;
    while (!rest_.empty()) row += atom();
    return "<math><mrow>" + row + "</mrow></math>";
  }

 private:
  char32_t next() const {
    std::string_view rest = rest_;
    return rest.empty() ? 0 : take_character(rest).code;
  }
  std::string_view take() { return take_character(rest_).bytes; }

  template <typename Fits>
  std::string run(Fits fits) {
    std::string text;
    while (!rest_.empty() && fits(next())) text += take();
    return text;
  }

  static std::string element(std::string_view name, std::string_view text) {
    return fmt::format("<{0}>{1}</{0}>", name, html_escaped(text));
  }

  // What has no marks of its own.
  std::string base() {
    if (rest_.empty()) return "";
    if (is_letter(next())) return element("mi", run(is_letter));
    if (is_decimal(next())) return element("mn", run([](char32_t c) { return is_decimal(c) || c == U'.'; }));
    if (next() == U'√') {
      take();
      return "<msqrt>" + marked() + "</msqrt>";
    }
    if (static_cast<unsigned>(next()) > 0x2E80) return element("mtext", run([](char32_t c) { return c > 0x2E80; }));
    return "<mo stretchy=\"false\">" + html_escaped(take()) + "</mo>";
  }

  // A word of the language beside the formula: ", each row".
  std::string words() {
    std::string text = run([](char32_t c) { return c == U',' || c == U' '; });
    text += run([](char32_t c) { return is_latin(c) || c == U' ' || c == U'-'; });
    return element("mtext", text);
  }

  std::string atom() {
    if (next() == U' ') return take(), std::string();
    if (rest_.starts_with(", ") && rest_.size() > 2 && is_latin(static_cast<unsigned char>(rest_[2]))) return words();
    return marked();
  }

  // With a tilde above, a power or a head's number above behind, an index below.
  std::string marked() {
    std::string text = base(), below, above;
    for (bool more = true; more && !rest_.empty();) {
      const char32_t c = next();
      if (c == U'\u0303') {
        take();
        text = "<mover accent=\"true\">" + text + "<mo>~</mo></mover>";
      } else if (c == U'_') {
        take();
        below += element("mi", run([](char32_t sign) { return is_letter(sign) || is_decimal(sign); }));
      } else if (on_line(c)) {
        (is_lowered(c) ? below : above) += element("mn", raised(is_lowered(c)));
      } else if (c == U'ᵀ') {
        take();
        above += "<mi>T</mi>";
      } else if (c == U'′' || (c == U'*' && text == "<mi>N</mi>")) {
        above += element("mo", take());
      } else if (c == U'^') {
        take();
        above += marked();
      } else {
        more = false;
      }
    }
    if (below.empty() && above.empty()) return text;
    const std::string low = "<mrow>" + below + "</mrow>", high = "<mrow>" + above + "</mrow>";
    if (above.empty()) return "<msub>" + text + low + "</msub>";
    if (below.empty()) return "<msup>" + text + high + "</msup>";
    return "<msubsup>" + text + low + high + "</msubsup>";
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

std::string mathml(std::string_view formula) {
  return MathWriter(formula).write();
}

}  // namespace mha::show
