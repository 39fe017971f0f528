// The header of a .npy array (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). It is a Python
// literal, which NumPy itself evaluates; here a dictionary of a text, a truth value and a tuple of integers is read, and
// everything else is refused.
#include "io/arrays/array.hpp"

#include <charconv>
#include <set>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t most_axes = 32;  // NumPy's own limit

// What NumPy's other types are, by the letter.
struct UnreadType {
  char letter;
  Text what;
};
constexpr UnreadType unread_types[] = {
    {'c', {"complex numbers", "复数"}},
    {'U', {"texts", "文本"}},
    {'S', {"bytes of text", "字节串"}},
    {'a', {"bytes of text", "字节串"}},
    {'O', {"Python objects", "Python 对象"}},
    {'M', {"dates", "日期"}},
    {'m', {"times", "时间"}},
    {'V', {"bytes without a type (bfloat16 is saved like that)", "没有类型的字节（bfloat16 会这样存）"}},
};

// "<f4": the byte order, and the type.
void take_descr(const std::string& descr, ArrayHeader& header, std::string_view name) {
  const char order = descr.empty() ? ' ' : descr.front();
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view type = std::string_view(descr).substr(has_order ? 1 : 0);
  for (const NumberTypeInfo& known : number_types) {
    if (type.empty() || known.npy != type || !has_order || (order == '|' && known.bytes != 1)) continue;
    header.type = known.type;
    header.big_endian = order == '>';
    return;
  }
  Text what = {"numbers of another type", "另一种类型的数"};
  for (const UnreadType& other : unread_types)
    if (type.starts_with(other.letter)) what = other.what;
  throw Error({"{}: it holds {} (NumPy's type {}); numbers are read that are floats of 16 to 64 bits, integers or booleans",
               "{}：里面是{}（NumPy 的类型 {}）；可读的是 16 至 64 位的浮点数、整数和布尔值"},
              name, what, quote(descr));
}

// Three entries, of which each stands once.
class NpyLiteralReader {
 public:
  NpyLiteralReader(std::string_view text, std::string_view name) : rest_(text), whole_(text), name_(name) {}

  void read(ArrayHeader& header) {
    expect('{');
    while (!accept('}')) {
      read_entry(header);
      if (!accept(',') && peek() != '}') refuse({"a comma or the closing brace is missing", "缺少逗号或右花括号"});
    }
    skip_spaces();
    if (!rest_.empty()) refuse({"there is more behind the closing brace", "右花括号后面还有内容"});
    if (keys_.size() != 3) refuse(expected_keys);
  }

 private:
  static constexpr Text expected_keys = {"descr, fortran_order and shape are expected, each once",
                                         "应有 descr、fortran_order 和 shape，各一次"};

  void read_entry(ArrayHeader& header) {
    const std::string key = text();
    expect(':');
    if (!keys_.insert(key).second) refuse(expected_keys);
    if (key == "descr") {
      if (peek() == '[' || peek() == '(' || peek() == '{')
        throw Error({"{}: its entries are records of several fields; save one field as an array of numbers",
                     "{}：每个元素是有多个字段的记录；请把一个字段存为数的数组"},
                    name_);
      take_descr(text(), header, name_);
    } else if (key == "fortran_order") {
      header.fortran_order = truth();
    } else if (key == "shape") {
      header.axes = integers();
    } else {
      refuse(expected_keys);
    }
  }

  std::string text() {
    const char mark = peek();
    if (mark != '\'' && mark != '"') refuse({"a text in quotes is expected", "应为带引号的文本"});
    rest_.remove_prefix(1);
    const std::size_t length = rest_.find_first_of(std::string_view("\\\n\0'\"", 5));
    if (length == std::string_view::npos || rest_[length] != mark)
      refuse({"a text is not closed, or holds an escape", "文本没有结束，或含有转义"});
    std::string result(rest_.substr(0, length));
    rest_.remove_prefix(length + 1);
    return result;
  }

  bool truth() {
    skip_spaces();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    refuse({"fortran_order is True or False", "fortran_order 应为 True 或 False"});
  }

  // (), (3,), (3, 4), (3, 4,)
  std::vector<Index> integers() {
    std::vector<Index> result;
    expect('(');
    while (!accept(')')) {
      result.push_back(integer());
      if (result.size() > most_axes) refuse({"the shape has more than {} axes", "形状的轴超过 {} 个"}, most_axes);
      const bool comma = accept(',');
      if (!comma && (peek() != ')' || result.size() == 1))
        refuse({"the shape is no tuple of integers", "形状不是整数的元组"});
    }
    return result;
  }

  Index integer() {
    skip_spaces();
    Index result = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), result);
    if (error == std::errc::result_out_of_range) refuse({"an axis of the shape is too large", "形状中有一个轴太大"});
    if (error != std::errc() || result < 0)
      refuse({"the shape is no tuple of integers from 0 on", "形状不是由 0 或更大的整数组成的元组"});
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // as Python 2 writes it
    return result;
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  char peek() {
    skip_spaces();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse({"'{}' is expected", "应为 '{}'"}, c);
  }

  template <typename... Parts>
  [[noreturn]] void refuse(const Text& why, const Parts&... parts) const {
    throw Error({"{}: the header of the array is not the plain literal that NumPy writes, near {}: {}",
                 "{}：数组的文件头不是 NumPy 写的那种字面量，在 {} 附近：{}"},
                name_, quote(whole_.substr(static_cast<std::size_t>(rest_.data() - whole_.data()), 20)),
                say(why, parts...));
  }

  std::string_view rest_, whole_;
  std::string_view name_;
  std::set<std::string> keys_;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

// Where the literal stands: behind the version and its own length, which has 2 bytes in version 1 and 4 from 2 on.
std::string_view literal_of(std::string_view beginning, std::size_t size, std::string_view name) {
  if (!beginning.starts_with(npy_magic))
    throw Error(
        {"{}: this is no .npy array, which begins with \\x93NUMPY", "{}：这不是 .npy 数组，.npy 以 \\x93NUMPY 开头"}, name);
  if (beginning.size() < 12) throw Error({"{}: the array is cut short in its header", "{}：数组的文件头被截断"}, name);
  const int version = static_cast<unsigned char>(beginning[6]), minor = static_cast<unsigned char>(beginning[7]);
  if (version < 1 || version > 3 || minor != 0)
    throw Error({"{}: version {}.{} of the .npy format is not known; 1.0, 2.0 and 3.0 are",
                 "{}：不认识 .npy 格式的版本 {}.{}；可读的是 1.0、2.0 和 3.0"},
                name, version, minor);
  const std::size_t first = version == 1 ? 10 : 12;
  const std::size_t length = little_endian(beginning.substr(8, first - 8));
  if (length > size - first) throw Error({"{}: the array is cut short in its header", "{}：数组的文件头被截断"}, name);
  if (first + length > longest_npy_header || first + length > beginning.size())
    throw Error({"{}: its header has {} bytes, more than any array of numbers needs",
                 "{}：文件头有 {} 个字节，数的数组不需要这么多"},
                name, length);
  return beginning.substr(first, length);
}

}  // namespace

ArrayHeader read_npy_header(std::string_view beginning, std::size_t size, std::string_view name) {
  const std::string_view text = literal_of(beginning, size, name);
  ArrayHeader header;
  NpyLiteralReader(text, name).read(header);
  header.data_begin = static_cast<std::size_t>(text.data() + text.size() - beginning.data());
  check_size(header, name);
  const std::size_t expected = header.data_bytes(), found = size - header.data_begin;
  if (found < expected)
    throw Error({"{}: the array is cut short: its shape and type need {} bytes, and {} are there",
                 "{}：数组被截断：按形状和类型需要 {} 个字节，实际只有 {} 个"},
                name, expected, found);
  if (found > expected)
    throw Error({"{}: the array is too long: its shape and type need {} bytes, and {} are there",
                 "{}：数组太长：按形状和类型需要 {} 个字节，实际有 {} 个"},
                name, expected, found);
  return header;
}

}  // namespace mha::io
