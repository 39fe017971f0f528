// What to say when the input is no JSON: what was found, what belongs there, and the slip behind it.
#include "io/json/reader.hpp"

#include <array>

#include "core/utf8.hpp"

namespace mha::io {
namespace {

// What is wrong inside a text, by the words of nlohmann's lexer.
struct TextFault {
  std::string_view reason;
  Text sentence;
};

constexpr TextFault text_faults[] = {
    {"ill-formed UTF-8",
     {"a text holds bytes that are no UTF-8; save the file as UTF-8", "文本中有不是 UTF-8 的字节；请把文件存为 UTF-8"}},
    {"control character",
     {"a line break, tab or other control character stands inside a text; close the text with \" or write \\n, \\t or "
      "\\u001b",
      "文本中有换行、制表符或其他控制字符；请用 \" 结束文本，或写 \\n、\\t 或 \\u001b"}},
    {"surrogate",
     {"half of a surrogate pair stands alone in a text; write the character itself", "代理对只有一半；请直接写这个字符"}},
    {"\\u",
     {"\\u in a text is followed by four hexadecimal digits, such as \\u03b1",
      "文本中的 \\u 后面是四位十六进制数，例如 \\u03b1"}},
    {"backslash",
     {"after a backslash a text has one of \" \\ / b f n r t u; write a backslash itself as \\\\",
      "文本中反斜杠后面应为 \" \\ / b f n r t u 之一；反斜杠本身写作 \\\\"}},
};

InputFault text_fault(Source& source, std::string_view reason) {
  if (source.cut_off())
    return {source.position(),
            "",
            {"the text that begins here is never closed; add the missing double quote",
             "从这里开始的文本没有结束；请补上双引号"}};
  for (const TextFault& fault : text_faults)
    if (reason.find(fault.reason) != std::string_view::npos) return {source.position_in_text(), "", say(fault.sentence)};
  return {source.position_in_text(), "", say({"a text cannot be read: {}", "无法读取文本：{}"}, escape(reason))};
}

bool ends_value(char token) {
  return token != ',' && token != ':' && token != '[' && token != '{';
}

Saying name_of_token(const Source& source) {
  switch (source.token()) {
    case '\0': return {"the end of the file", "文件末尾"};
    case '"': return {"a text", "文本"};
    case ',':
    case ':':
    case '[':
    case ']':
    case '{':
    case '}': return named_so(fmt::format("'{}'", source.token()));
    default: return named_so(escape(source.word().written));
  }
}

Text kind_of(const Opening& opening) {
  return opening.bracket == '[' ? Text{"list", "列表"} : Text{"object", "对象"};
}

Saying name_of_opening(const Opening& opening) {
  return say({"the {} that begins at line {}, column {}", "从第 {1} 行第 {2} 列开始的{0}"}, kind_of(opening),
             opening.position.line, opening.position.column);
}

Text expected_in_list(char previous) {
  if (previous == '[') return {"a value or ']'", "值或 ']'"};
  return previous == ',' ? Text{"a value", "值"} : Text{"',' or ']'", "',' 或 ']'"};
}

Text expected_in_object(char previous, bool after_key) {
  if (previous == ':') return {"a value", "值"};
  if (after_key) return {"':' and a value", "':' 和值"};
  if (previous == '{') return {"a key in double quotes or '}'", "双引号中的键或 '}'"};
  return previous == ',' ? Text{"a key in double quotes", "双引号中的键"} : Text{"',' or '}'", "',' 或 '}'"};
}

Text slip(char token, char previous, bool after_key) {
  const bool begins_value = token != ',' && token != ':' && token != ']' && token != '}';
  if (after_key || previous == ':') return {};
  if (ends_value(previous) && begins_value) return {"; a comma is missing before it", "；前面缺少逗号"};
  if (token == ',')
    return {"; remove the comma or write what is missing before it", "；请去掉逗号，或补上它前面缺少的内容"};
  return {};
}

// What people write, by how it begins or as a whole, and what to do about it.
struct Habit {
  std::string_view written;
  Text remedy;
  bool is_whole = false;
};

constexpr Text no_comments = {"JSON has no comments; a key that starts with _ may hold a remark: \"_remark\": \"…\"",
                              "JSON 没有注释；以 _ 开头的键可以写备注：\"_remark\": \"…\""};
constexpr Text straight_quotes = {"texts and keys stand in straight double quotes: \"…\"", "文本和键用直的双引号：\"…\""};
constexpr Text every_entry = {"mha needs every entry; a printed matrix with dots has lost some",
                              "mha 需要每个元素；打印时带省略号的矩阵已经缺了一些"};
constexpr Text no_such_number = {"JSON has no such number; an add mask takes the text \"-inf\"",
                                 "JSON 没有这个数；加性掩码中可以写文本 \"-inf\""};
constexpr std::array habits = {
    Habit{"//", no_comments},
    Habit{"/*", no_comments},
    Habit{"#", no_comments},
    Habit{"'", {"texts and keys stand in double quotes: \"…\"", "文本和键用双引号：\"…\""}},
    Habit{"“", straight_quotes},
    Habit{"”", straight_quotes},
    Habit{"−", {"a minus sign in JSON is the plain hyphen: -1", "JSON 中的负号是普通的连字符：-1"}},
    Habit{"...", every_entry},
    Habit{"…", every_entry},
    Habit{"True", {"write true", "请写 true"}, true},
    Habit{"TRUE", {"write true", "请写 true"}, true},
    Habit{"False", {"write false", "请写 false"}, true},
    Habit{"FALSE", {"write false", "请写 false"}, true},
    Habit{"None", {"write null, or leave the key out", "请写 null，或去掉这个键"}, true},
    Habit{"nan", {"JSON has no such number", "JSON 没有这个数"}, true},
    Habit{"inf", no_such_number, true},
    Habit{"-inf", {"in an add mask write it as text: \"-inf\"", "在加性掩码中写成文本：\"-inf\""}, true},
    Habit{"+Infinity", no_such_number, true},
};

Saying mend_number(std::string_view word) {
  const std::string_view sign = word.starts_with('-') ? "-" : "";
  std::string_view digits = word.substr(word.find_first_not_of("+-"));
  if (digits.starts_with('.'))
    return say({"write a digit before the point: {}0{}", "小数点前面要有数字：{}0{}"}, sign, escape(digits));
  if (digits.ends_with('.'))
    return say({"write a digit behind the point: {}{}0", "小数点后面要有数字：{}{}0"}, sign, escape(digits));
  if (digits.find(';') != std::string_view::npos)
    return {"entries stand between commas, and decimals behind a point: [1.5, 0]", "元素之间用逗号，小数用点：[1.5, 0]"};
  const std::size_t first = digits.find_first_not_of('0');
  if (first != 0 && first != std::string_view::npos && is_json_number(digits.substr(first)))
    return say({"leading zeros are not allowed: {}{}", "开头不能有多余的零：{}{}"}, sign, escape(digits.substr(first)));
  if (word.starts_with('+') && is_json_number(digits))
    return say({"numbers carry no plus sign: {}", "数不带正号：{}"}, escape(digits));
  return {"a number is decimal, such as -0.5 or 1.5e-3", "数是十进制的，例如 -0.5 或 1.5e-3"};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What should stand in place of a wrong word.
Saying mend(std::string_view word) {
  for (const Habit& habit : habits)
    if (habit.is_whole ? word == habit.written : word.starts_with(habit.written)) return say(habit.remedy);
  const std::size_t digits = word.find_first_not_of("+-");
  const bool like_a_number =
      digits <= 1 &&
      (is_digit(word[digits]) || (word[digits] == '.' && word.size() > digits + 1 && is_digit(word[digits + 1])));
  return like_a_number ? mend_number(word) : Text{"texts and keys stand in double quotes", "文本和键用双引号"};
}

}  // namespace

InputFault unclosed_list(const Opening& list, Position here) {
  return {list.position, "",
          say({"the list that begins here is not closed before line {}, column {}; add the missing ']'",
               "从这里开始的列表到第 {} 行第 {} 列还没有结束；请补上缺少的 ']'"},
              here.line, here.column)};
}

InputFault syntax_fault(Source& source, const std::vector<Opening>& open, bool after_key, std::string_view reason) {
  if (source.token() == '"' && reason.find("invalid string") != std::string_view::npos) return text_fault(source, reason);
  const char token = source.token();
  const char previous = source.previous_token();
  const Position here = source.position();
  if (token == '\0' && previous == '\0')
    return {here,
            "",
            {"it is empty; mha reads one JSON object, {\"X\": [[1, 0], [0, 1]], …}",
             "文件是空的；mha 读取一个 JSON 对象：{\"X\": [[1, 0], [0, 1]], …}"}};
  if (token == '\0' && !open.empty())
    return {
        open.back().position, "",
        say({"the {} that begins here is not closed when the file ends, at line {}, column {}; add the missing '{}', or "
             "fetch the rest of the file",
             "从这里开始的{}到文件末尾（第 {} 行第 {} 列）还没有结束；请补上缺少的 '{}'，或取来文件的其余部分"},
            kind_of(open.back()), here.line, here.column, open.back().bracket == '[' ? ']' : '}')};
  if ((token == ']' || token == '}') && previous == ',')
    return {here, "",
            say({"a comma stands before the closing '{}', which JSON does not allow; remove the comma",
                 "右括号 '{}' 前面有逗号，JSON 不允许；请去掉逗号"},
                token)};
  // A key or the end of the object in a list.
  if (!open.empty() && open.back().bracket == '[' && (token == ':' || token == '}'))
    return unclosed_list(open.back(), here);
  const Saying found = name_of_token(source);
  if (open.empty() && previous == '\0')
    return {here, "",
            say({"found {}, expected one JSON object, {{\"X\": …}}", "这里是{}，应为一个 JSON 对象：{{\"X\": …}}"}, found)};
  if (open.empty())
    return {here, "",
            say({"found {} behind the end of the JSON value; a file holds one, so remove what follows",
                 "JSON 值结束之后还有{}；一个文件只放一个值，请去掉后面的内容"},
                found)};
  const Text expected = open.back().bracket == '[' ? expected_in_list(previous) : expected_in_object(previous, after_key);
  return {here, "",
          say({"found {}, expected {} in {}{}", "这里是{0}，{2}中应为{1}{3}"}, found, expected,
              name_of_opening(open.back()), slip(token, previous, after_key))};
}

InputFault wrong_word(Position position, std::string_view word) {
  return {position, "", say({"found {}, which is no JSON: {}", "这里是 {}，它不是 JSON：{}"}, escape(word), mend(word))};
}

}  // namespace mha::io
