// A JSON input in memory: how its parts are called in messages, and nodes as the values that a problem needs.
#include "io/json/tree.hpp"

#include <fmt/ranges.h>

#include <charconv>
#include <span>

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

constexpr double largest_integer = 9007199254740992;  // 2^53: beyond it doubles leave integers out

bool is_integer(double value) {
  return std::abs(value) <= largest_integer && std::trunc(value) == value;
}

[[noreturn]] void refuse_other_than_matrix(const Node& node) {
  if (const List* list = node.as<List>(); list != nullptr && !list->empty()) refuse_other_than_matrix(list->front());
  if (node.as<std::string>() != nullptr && node.path.ends_with(']'))
    fail(node, {"{} stands where a number belongs; numbers are written without quotes", "应为数的地方是{}；数不加引号"},
         describe(node));
  if (node.as<Object>() != nullptr && node.path.ends_with(']'))
    fail(node, {"{} stands where numbers belong", "应为数的地方是{}"}, describe(node));
  fail(node,
       {"found {}, expected a matrix, which is a list of rows: [[1, 0], [0, 1]]",
        "这里是{}，应为矩阵，即由行组成的列表：[[1, 0], [0, 1]]"},
       describe(node));
}

Text remedy(OddEntry::Kind kind, Entries entries) {
  if (kind == OddEntry::Kind::null)
    return {"null is usually NaN or −inf from a JSON writer; write the number, or in an add mask \"-inf\"",
            "null 通常是写 JSON 的程序把 NaN 或 −∞ 写成的；请写出这个数，或在加性掩码中写 \"-inf\""};
  if (entries == Entries::switches)
    return {"this mask holds 0 and 1, or false and true", "这种掩码只有 0 和 1，或 false 和 true"};
  switch (kind) {
    case OddEntry::Kind::boolean:
      return {"booleans belong in the masks allow, block and padding; write 1 or 0",
              "布尔值用于允许、屏蔽和填充掩码；请写 1 或 0"};
    case OddEntry::Kind::text:
      return entries == Entries::numbers
                 ? Text{"numbers are written without quotes", "数不加引号"}
                 : Text{"numbers are written without quotes, −∞ as \"-inf\"", "数不加引号，−∞ 写作 \"-inf\""};
    case OddEntry::Kind::minus_infinity_text:
      return {"\"-inf\" belongs in add masks; here every entry is a finite number",
              "\"-inf\" 用于加性掩码；这里的每个元素都是有限的数"};
    case OddEntry::Kind::not_finite:
      return {"Python's json writes this, but it is no JSON; here every entry is a finite number",
              "Python 的 json 会这样写，但这不是 JSON；这里的每个元素都是有限的数"};
    case OddEntry::Kind::null: break;
  }
  return {};
}

bool may_stand(OddEntry::Kind kind, Entries entries) {
  switch (kind) {
    case OddEntry::Kind::boolean: return entries == Entries::switches;
    case OddEntry::Kind::null:
    case OddEntry::Kind::text: return entries == Entries::answers;
    case OddEntry::Kind::minus_infinity_text:
    case OddEntry::Kind::not_finite: return entries == Entries::addends || entries == Entries::answers;
  }
  return false;
}

void refuse_odd_entries(const Grid& grid, Entries entries) {
  for (const OddEntry& odd : grid.odd)
    if (!may_stand(odd.kind, entries))
      throw InputFault(odd.position, odd.path, {"{} stands where a number belongs; {}", "应为数的地方是{}；{}"}, odd.found,
                       remedy(odd.kind, entries));
}

// "[1][0]" for the entry at this place of the flat numbers.
std::string entry_path(const Grid& grid, std::size_t index) {
  std::string path;
  auto rest = static_cast<Index>(index);
  for (auto axis = grid.axes.rbegin(); axis != grid.axes.rend(); ++axis) {
    path.insert(0, fmt::format("[{}]", rest % *axis));
    rest /= *axis;
  }
  return path;
}

template <typename Fits>
void expect_entries(const Node& node, const Grid& grid, const Text& expected, Fits fits) {
  for (std::size_t i = 0; i < grid.numbers.size(); ++i) {
    if (fits(grid.numbers[i])) continue;
    throw InputFault(node.position, node.path + entry_path(grid, i), {"found {}, expected {}", "这里是 {}，应为{}"},
                     grid.numbers[i], expected);
  }
}

void refuse_empty(const Node& node, const Grid& grid) {
  const auto empty = std::find(grid.axes.begin(), grid.axes.end(), 0);
  if (empty == grid.axes.end()) return;
  if (empty == grid.axes.begin())
    fail(node, {"[] is empty; at least one number or row belongs here", "[] 是空的；这里至少要有一个数或一行"});
  fail(node, {"its rows are empty: []; each needs at least one number: [[1, 0], [0, 1]]",
              "各行是空的：[]；每行至少要有一个数：[[1, 0], [0, 1]]"});
}

// Booleans stand for 0 and 1 where a mask takes nothing else, as they do in JSON.
void refuse_booleans(const Node& node, const Grid& grid, Entries entries) {
  if (grid.file && grid.file->is_boolean() && entries != Entries::switches)
    fail(node,
         {"{} holds booleans, which belong in the masks allow, block and padding; save it as numbers",
          "{} 中是布尔值，只用于允许、屏蔽和填充掩码；请存为数"},
         grid.file->name());
}

void load(Grid& grid, Entries entries) {
  if (!grid.file || !grid.numbers.empty()) return;
  Index size = 1;
  for (const Index axis : grid.axes) size *= axis;
  Numbers numbers(static_cast<std::size_t>(size));
  if (entries == Entries::addends)
    grid.file->read_addends(numbers.data());
  else
    grid.file->read_rows(0, size / grid.axes.back(), numbers.data());
  grid.numbers = std::move(numbers);
}

// A vector where a matrix belongs, and both ways to read it; the example is the person's own where it is short.
Saying offer_matrix(const Node& node, const Grid& grid) {
  if (grid.file)
    return say({"{} is one-dimensional, and a matrix has rows and columns; in NumPy, one row is x[None, :], one column is "
                "x[:, None]",
                "{} 是一维的，而矩阵有行和列；在 NumPy 中，一行写作 x[None, :]，一列写作 x[:, None]"},
               grid.file->name());
  constexpr std::size_t longest_example = 6;
  const std::span<const double> numbers(grid.numbers.data(), grid.numbers.size());
  const bool is_short = numbers.size() <= longest_example;
  const std::string row = is_short ? fmt::format("[{}]", fmt::join(numbers, ", ")) : "[1, 2, 3]";
  const std::string column = is_short ? fmt::format("[[{}]]", fmt::join(numbers, "], [")) : "[[1], [2], [3]]";
  return say({"{} is one-dimensional, and a matrix is a list of rows; one row is [{}], one column is {}",
              "{} 是一维的，而矩阵是由行组成的列表；一行写作 [{}]，一列写作 {}"},
             is_short ? named_so(row) : describe(node), row, column);
}

Grid& expect_list(Node& node, Entries entries) {
  if (node.as<Grid>() == nullptr && node.as<List>() == nullptr && node.as<Object>() == nullptr)
    fail(node, {"found {}, expected a list of numbers: [1, 0]", "这里是{}，应为数的列表：[1, 0]"}, describe(node));
  Grid& grid = expect_grid(node, entries);
  if (grid.axes.size() != 1)
    fail(node, {"found {}, expected one list of numbers{}", "这里是{}，应为一个数的列表{}"}, describe(node),
         grid.file ? Text{", an array with one axis", "，即只有一个轴的数组"} : Text{": [1, 0]", "：[1, 0]"});
  load(grid, entries);
  return grid;
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

Saying describe(const Node& node) {
  return std::visit(Describe{}, node.value);
}

std::string shape_text(const std::vector<Index>& axes) {
  return fmt::format("{}", fmt::join(axes, "×"));
}

Grid& expect_grid(Node& node, Entries entries) {
  Grid* grid = node.as<Grid>();
  if (grid == nullptr) refuse_other_than_matrix(node);
  refuse_empty(node, *grid);
  refuse_odd_entries(*grid, entries);
  refuse_booleans(node, *grid, entries);
  if (entries == Entries::switches || entries == Entries::addends) load(*grid, entries);
  if (entries == Entries::switches)
    expect_entries(node, *grid, {"0 or 1", " 0 或 1"}, [](double x) { return x == 0 || x == 1; });
  return *grid;
}

Grid& expect_rows(Node& node, Entries entries) {
  Grid& grid = expect_grid(node, entries);
  if (grid.axes.size() == 1) fail(node, offer_matrix(node, grid));
  return grid;
}

Shape expect_matrix(Node& node) {
  const Grid& grid = expect_rows(node, Entries::numbers);
  if (grid.axes.size() > 2)
    fail(node, {"found {}, expected one matrix, a list of rows", "这里是{}，应为一个矩阵，即由行组成的列表"},
         describe(node));
  return {1, 1, grid.axes[0], grid.axes[1]};
}

Index expect_vector(Node& node) {
  return expect_list(node, Entries::numbers).axes[0];
}

Tensor take_tensor(Node& node, Shape shape) {
  Grid& grid = *node.as<Grid>();
  if (grid.file && grid.numbers.empty()) return {shape, grid.file};
  return {shape, std::move(grid.numbers)};
}

Numbers take_numbers(Node& node) {
  Grid& grid = *node.as<Grid>();
  load(grid, Entries::numbers);
  return std::move(grid.numbers);
}

bool expect_truth(const Node& node) {
  return expect<bool>(node, {"true or false", " true 或 false"});
}

double expect_number(const Node& node) {
  const Scalar* number = node.as<Scalar>();
  if (number == nullptr || !std::isfinite(number->value))
    fail(node, {"found {}, expected a finite number", "这里是{}，应为有限的数"}, describe(node));
  return number->value;
}

double expect_positive(const Node& node) {
  const double number = expect_number(node);
  if (number <= 0) fail(node, {"found {}, expected a number above 0", "这里是 {}，应为大于 0 的数"}, number);
  return number;
}

Index expect_integer(const Node& node) {
  const double value = expect_number(node);
  if (!is_integer(value))
    fail(node, {"found {}, expected an integer of at most 2^53", "这里是{}，应为不超过 2^53 的整数"}, describe(node));
  return static_cast<Index>(value);
}

const std::string& expect_text(const Node& node) {
  return expect<std::string>(node, {"a text in double quotes", "双引号中的文本"});
}

std::vector<double> expect_numbers(Node& node, Index count, const Text& each) {
  const Grid& grid = expect_list(node, Entries::numbers);
  const Index found = grid.axes[0];
  if (found != count)
    fail(node, {"found {}, expected {}, {}", "这里有 {}，应为 {} 个，{}"}, counted(found, "number"), count, each);
  return {grid.numbers.data(), grid.numbers.data() + grid.numbers.size()};
}

std::vector<Index> expect_integers(Node& node, Index count, const Text& each) {
  const std::vector<double> numbers = expect_numbers(node, count, each);
  expect_entries(node, *node.as<Grid>(), {"an integer", "整数"}, is_integer);
  return {numbers.begin(), numbers.end()};
}

Saying counted(Index count, std::string_view thing) {
  constexpr std::pair<std::string_view, std::string_view> in_chinese[] = {
      {"number", "个数"},         {"row", "行"},      {"column", "列"},
      {"query row", "个查询行"},  {"key", "个键"},    {"head", "个头"},
      {"query head", "个查询头"}, {"item", "个样本"}, {"key/value head", "个键值头"},
      {"label", "个词元名称"},    {"list", "个列表"}, {"byte", "个字节"},
      {"axis", "个轴"},           {"entry", "项"},    {"layer", "层"}};
  std::string_view zh = thing;
  for (const auto& [word, chinese] : in_chinese)
    if (word == thing) zh = chinese;
  return {fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s"), fmt::format("{} {}", count, zh)};
}

}  // namespace mha::io
