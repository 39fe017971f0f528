// Shortest round-trip text by std::to_chars, with the few cases that JSON and Python want otherwise.
#include "io/json/numbers_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace mha::io {
namespace {

constexpr double exact_integers = 9007199254740992.0;  // 2^53

char* write_text(char* to, std::string_view text) {
  return to + text.copy(to, text.size());
}

template <class Real>
char* write_real(char* to, Real number) {
  char* const end = to + number_text_size;
  if (std::fabs(static_cast<double>(number)) < exact_integers) {
    const auto whole = static_cast<std::int64_t>(number);
    if (static_cast<Real>(whole) != number) return std::to_chars(to, end, number).ptr;
    if (whole == 0 && std::signbit(number)) return write_text(to, "-0.0");
    return std::to_chars(to, end, whole).ptr;
  }
  if (std::isnan(number)) return write_text(to, "\"nan\"");
  if (std::isinf(number)) return write_text(to, number < 0 ? "\"-inf\"" : "\"inf\"");
  return std::to_chars(to, end, number, std::chars_format::scientific).ptr;
}

}  // namespace

char* write_number(char* to, double number) {
  return write_real(to, number);
}
char* write_number(char* to, float number) {
  return write_real(to, number);
}

}  // namespace mha::io
