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

Saying describe_grid(const Grid& grid) {
  if (grid.file) return say({"{} numbers in {}", "{1} 中形状为 {0} 的数"}, shape_text(grid.axes), grid.file->name());
  if (std::find(grid.axes.begin(), grid.axes.end(), 0) != grid.axes.end())
    return named_so(grid.axes.size() == 1 ? "[]" : "[[]]");
  const Index first = grid.axes.front();
  if (grid.axes.size() == 1) return say({"a list of {} number{}", "{} 个数的列表"}, first, first == 1 ? "" : "s");
  const std::string shape = shape_text(grid.axes);
  return grid.axes.size() == 2 ? say({"a {} matrix", "{} 矩阵"}, shape)
                               : say({"numbers of shape {}", "形状为 {} 的数"}, shape);
}

struct Describe {
  Saying operator()(Null) const { return named_so("null"); }
  Saying operator()(bool truth) const { return named_so(truth ? "true" : "false"); }
  Saying operator()(const Scalar& number) const { return say({"the number {}", "数 {}"}, number.written); }
  Saying operator()(const std::string& text) const { return say({"the text {}", "文本 {}"}, quote(text)); }
  Saying operator()(const List& list) const {
    return say(list.empty() ? Text{"an empty list", "空列表"} : Text{"a list", "列表"});
  }
  Saying operator()(const Object& object) const {
    return say(object.empty() ? Text{"an empty object", "空对象"} : Text{"an object", "对象"});
  }
  Saying operator()(const Grid& grid) const { return describe_grid(grid); }
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
  return {std::max(0, behind_point - exponent), static_cast<int>(significant.size()) - static_cast<int>(points)};
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
  if (one.digits > sure_digits) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, sure_digits - 1).ptr;
    const Writing sure = written_without_zeros({text.data(), static_cast<std::size_t>(end - text.data())});
    if (sure.digits < sure_digits) one = sure;
  }
  decimals = std::max(decimals, one.decimals);
  digits = std::max(digits, one.digits);
}

std::string path_of(std::string_view list, Index index) {
  return fmt::format("{}[{}]", list, index);
}

std::string path_of(std::string_view object, std::string_view key) {
  if (!is_plain_key(key)) return fmt::format("{}[{}]", object, quote(key));
  return fmt::format("{}{}{}", object, object.empty() ? "" : ".", escape(key));
}

Saying describe(const Node& node) {
  return std::visit(Describe{}, node.value);
}

std::string shape_text(const std::vector<Index>& axes) {
  return fmt::format("{}", fmt::join(axes, "×"));
}

}  // namespace mha::io
