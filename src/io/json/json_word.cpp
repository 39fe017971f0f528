// The words of JSON that stand without quotes: which they are, and what to say of those that are none.
#include "io/json/json_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>

#include "core/utf8.hpp"

namespace mha::io {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char* skip_digits(const char* p, const char* end) {
  while (p != end && is_digit(*p)) ++p;
  return p;
}

// The grammar of RFC 8259: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool is_json_number(std::string_view word) {
  const char* p = word.data();
  const char* const end = p + word.size();
  if (p != end && *p == '-') ++p;
  const char* after = skip_digits(p, end);
  if (after == p || (*p == '0' && after - p > 1)) return false;
  p = after;
  if (p != end && *p == '.') {
    after = skip_digits(p + 1, end);
    if (after == p + 1) return false;
    p = after;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    after = skip_digits(p, end);
    if (after == p) return false;
    p = after;
  }
  return p == end;
}

long written_exponent(std::string_view digits) {
  constexpr long limit = 1'000'000'000;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  long exponent = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (status == std::errc::result_out_of_range) return digits.starts_with('-') ? -limit : limit;
  return std::clamp(exponent, -limit, limit);
}

// Whether a number outside the range of doubles is too large rather than too small: the decimal place of its first digit.
bool is_large(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const auto point = static_cast<long>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<long>(digits.find_first_of("123456789"));
  return (e < number.size() ? written_exponent(number.substr(e + 1)) : 0) + point - first > 0;
}

Word number_of(std::string_view written) {
  double value = 0;
  const auto [end, status] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (status != std::errc::result_out_of_range) return {Word::Kind::number, value, written};
  if (is_large(written)) return {Word::Kind::too_large, 0, written};
  return {Word::Kind::number, written.starts_with('-') ? -0.0 : 0.0, written};
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array literals = {
    Word{Word::Kind::boolean, 1, "true"},
    Word{Word::Kind::boolean, 0, "false"},
    Word{Word::Kind::null, 0, "null"},
    Word{Word::Kind::not_finite, std::numeric_limits<double>::quiet_NaN(), "NaN"},
    Word{Word::Kind::not_finite, infinity, "Infinity"},
    Word{Word::Kind::not_finite, -infinity, "-Infinity"},
};

// What people write, by how it begins, and what to do about it.
struct Habit {
  std::string_view begins;
  std::string_view remedy;
};

constexpr std::array habits = {
    Habit{"//", "JSON has no comments; a key that starts with _ may hold a remark: \"_remark\": \"…\""},
    Habit{"/*", "JSON has no comments; a key that starts with _ may hold a remark: \"_remark\": \"…\""},
    Habit{"#", "JSON has no comments; a key that starts with _ may hold a remark: \"_remark\": \"…\""},
    Habit{"'", "texts and keys stand in double quotes: \"…\""},
    Habit{"“", "texts and keys stand in straight double quotes: \"…\""},
    Habit{"”", "texts and keys stand in straight double quotes: \"…\""},
    Habit{"−", "a minus sign in JSON is the plain hyphen: -1"},
    Habit{"...", "mha needs every entry; a printed matrix with dots has lost some"},
    Habit{"…", "mha needs every entry; a printed matrix with dots has lost some"},
};

constexpr std::array spellings = {
    Habit{"True", "write true"},
    Habit{"TRUE", "write true"},
    Habit{"False", "write false"},
    Habit{"FALSE", "write false"},
    Habit{"None", "write null, or leave the key out"},
    Habit{"nan", "JSON has no such number"},
    Habit{"inf", "JSON has no such number; an add mask takes the text \"-inf\""},
    Habit{"-inf", "in an add mask write it as text: \"-inf\""},
    Habit{"+Infinity", "JSON has no such number; an add mask takes the text \"-inf\""},
};

std::string mend_number(std::string_view word) {
  const std::string_view sign = word.starts_with('-') ? "-" : "";
  std::string_view digits = word.substr(word.find_first_not_of("+-"));
  if (digits.starts_with('.')) return fmt::format("write a digit before the point: {}0{}", sign, escape(digits));
  if (digits.ends_with('.')) return fmt::format("write a digit behind the point: {}{}0", sign, escape(digits));
  const std::size_t first = digits.find_first_not_of('0');
  if (first != 0 && first != std::string_view::npos && is_json_number(digits.substr(first)))
    return fmt::format("leading zeros are not allowed: {}{}", sign, escape(digits.substr(first)));
  if (word.starts_with('+') && is_json_number(digits)) return "numbers carry no plus sign: " + escape(digits);
  return "a number is decimal, such as -0.5 or 1.5e-3";
}

}  // namespace

Word classify(std::string_view written) {
  if (is_json_number(written)) return number_of(written);
  for (const Word& literal : literals)
    if (literal.written == written) return literal;
  return {Word::Kind::wrong, 0, written};
}

std::string mend(std::string_view word) {
  for (const Habit& habit : habits)
    if (word.starts_with(habit.begins)) return std::string(habit.remedy);
  for (const Habit& spelling : spellings)
    if (word == spelling.begins) return std::string(spelling.remedy);
  const std::size_t digits = word.find_first_not_of("+-");
  const bool like_a_number =
      digits <= 1 &&
      (is_digit(word[digits]) || (word[digits] == '.' && word.size() > digits + 1 && is_digit(word[digits + 1])));
  return like_a_number ? mend_number(word) : "texts and keys stand in double quotes";
}

}  // namespace mha::io
