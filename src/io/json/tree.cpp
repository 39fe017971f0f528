// A JSON input in memory: how its parts are called in messages.
#include "io/json/tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/utf8.hpp"
#include "io/arrays/matrix_files.hpp"

namespace mha::io {
namespace {

std::string describe_grid(const Grid& grid) {
  if (grid.file) return fmt::format("{} numbers in {}", shape_text(grid.axes), grid.file->name());
  if (std::find(grid.axes.begin(), grid.axes.end(), 0) != grid.axes.end()) return grid.axes.size() == 1 ? "[]" : "[[]]";
  const Index first = grid.axes.front();
  if (grid.axes.size() == 1) return fmt::format("a list of {} number{}", first, first == 1 ? "" : "s");
  const std::string shape = shape_text(grid.axes);
  return grid.axes.size() == 2 ? fmt::format("a {} matrix", shape) : fmt::format("numbers of shape {}", shape);
}

struct Describe {
  std::string operator()(Null) const { return "null"; }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(const Scalar& number) const { return "the number " + number.written; }
  std::string operator()(const std::string& text) const { return "the text " + quote(text); }
  std::string operator()(const List& list) const { return list.empty() ? "an empty list" : "a list"; }
  std::string operator()(const Object& object) const { return object.empty() ? "an empty object" : "an object"; }
  std::string operator()(const Grid& grid) const { return describe_grid(grid); }
};

constexpr int sure_digits = 15;  // as many survive any double

// How exactly this number is written, as JSON has it.
Writing written(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, e);
  int exponent = 0;
  if (e < number.size()) {
    const std::size_t first = e + (number[e + 1] == '+' ? 2 : 1);
    std::from_chars(number.data() + first, number.data() + number.size(), exponent);
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const auto behind_point = static_cast<int>(mantissa.size() - std::min(point + 1, mantissa.size()));
  const std::size_t first_digit = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const std::string_view significant = mantissa.substr(first_digit);
  const auto points = std::count(significant.begin(), significant.end(), '.');
  return {std::max(0, behind_point - exponent), static_cast<int>(significant.size()) - static_cast<int>(points),
          e < number.size() || significant.empty()};
}

// The same for "d.ddde-x", without the zeros at the end of its digits.
Writing written_without_zeros(std::string_view number) {
  const std::size_t e = number.find('e');
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t last = mantissa.find_last_not_of('0');
  return written(std::string(mantissa.substr(0, last + 1)) + std::string(number.substr(e)));
}

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

void Writing::see(std::string_view number, double value) {
  Writing one = written(number);
  const bool has_e = one.all_in_e_notation;
  if (one.digits > sure_digits) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, sure_digits - 1).ptr;
    const Writing sure = written_without_zeros({text.data(), static_cast<std::size_t>(end - text.data())});
    if (sure.digits < sure_digits) one = sure;
  }
  one.all_in_e_notation = has_e;
  see(one);
}

void Writing::see(const Writing& other) {
  decimals = std::max(decimals, other.decimals);
  digits = std::max(digits, other.digits);
  all_in_e_notation = all_in_e_notation && other.all_in_e_notation;
}

std::string path_of(std::string_view list, Index index) {
  return fmt::format("{}[{}]", list, index);
}

std::string path_of(std::string_view object, std::string_view key) {
  if (!is_plain_key(key)) return fmt::format("{}[{}]", object, quote(key));
  return fmt::format("{}{}{}", object, object.empty() ? "" : ".", escape(key));
}

std::string describe(const Node& node) {
  return std::visit(Describe{}, node.value);
}

std::string shape_text(const std::vector<Index>& axes) {
  return fmt::format("{}", fmt::join(axes, "×"));
}

void fail(const Node& node, const std::string& sentence) {
  throw InputFault(node.position, node.path, sentence);
}

}  // namespace mha::io
